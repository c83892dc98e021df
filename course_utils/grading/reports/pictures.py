"""Makes pictures that learners have pasted fit for a page: of a kind that holds no code, and no larger than a browser can take.

Kind and size are read from a picture's header, whatever its notebook says. Nothing is unpacked here.
"""

import base64
import struct
from collections.abc import Iterable

KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif"}
PAGE_AT_MOST, ANSWER_AT_MOST = 200_000_000, 7_000_000  # characters of all pictures together
PIXELS_AT_MOST = 60_000_000  # of one picture, which a browser unpacks to four bytes each
SIZE_OF_JPEG = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # the segments of a JPEG that hold its height and width


def shown(pictures: Iterable[bytes], left: int) -> list[str]:
    """Return the pictures that a page may show, as data: addresses, in the number of characters left there."""
    taken, left = [], min(left, ANSWER_AT_MOST)
    for data in pictures:
        address = _data_address(data)
        if 0 < len(address) <= left:
            taken.append(address)
            left -= len(address)
    return taken


def _data_address(data):
    """Return a picture as a data: address, "" if it may not be shown."""
    kind = next((kind for start, kind in KINDS.items() if data.startswith(start)), "")
    width, height = {"png": _size_of_png, "gif": _size_of_gif, "jpeg": _size_of_jpeg}[kind](data) if kind else (0, 0)
    fits = 0 < width * height <= PIXELS_AT_MOST
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}" if fits else ""


def _size_of_png(data):
    return struct.unpack(">II", data[16:24].ljust(8, b"\0"))


def _size_of_gif(data):
    return struct.unpack("<HH", data[6:10].ljust(4, b"\0"))


def _size_of_jpeg(data):
    place = 2
    while len(head := data[place : place + 9]) == 9 and head[0] == 0xFF:
        marker, length, height, width = struct.unpack(">xBHxHH", head)
        if marker in SIZE_OF_JPEG:
            return width, height
        place += 2 + max(length, 2)
    return 0, 0
