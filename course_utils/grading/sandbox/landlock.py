"""Denies a process all files but those named, all TCP ports, and signals to others, with Linux's Landlock.

Why by hand: it is three system calls, and each of PyPI's bindings has one author and few users. Source: Linux's
Documentation/userspace-api/landlock.rst; the numbers are in linux/landlock.h.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every machine
VERSION_ONLY, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
FILE_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many bits of access_fs a version knows
TCP_RIGHTS = 0b11  # bind, connect: from version 4
SCOPES = 0b11  # abstract Unix sockets, signals: from version 6


def version() -> int:
    """Return Landlock's version in this kernel, 0 if there is none."""
    if not hasattr(os, "O_PATH"):  # not Linux
        return 0
    return max(_system_call(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_ONLY), 0)


def rules(readable: Iterable[str], writable: Iterable[str] = (), folders: Iterable[str] = ()) -> int:
    """Return a descriptor of rules, which this process or one that is given it can put on without being told the paths.

    Args:
        readable: files and folders, with all below, that may be read. What does not exist is skipped.
        writable: files that may also be written, such as /dev/null.
        folders: may be listed, with all folders below, without reading the files.

    Raises:
        OSError: the kernel has no Landlock, or refuses.
    """
    abi = version()
    if not abi:
        raise OSError("this kernel has no Landlock")
    rights = (1 << FILE_RIGHTS_BY_ABI[min(abi, 5)]) - 1
    attributes = struct.pack("QQQ", rights, TCP_RIGHTS, SCOPES)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = _check(_system_call(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    try:
        for paths, allowed in (
            (readable, READ_FILE | READ_DIR),
            (writable, READ_FILE | WRITE_FILE | TRUNCATE),
            (folders, READ_DIR),
        ):
            for path in paths:
                _add_rule(ruleset, path, allowed & rights)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset


def lock(ruleset: int) -> None:
    """Restrict this process and all that it starts, for good, to what the rules allow; close their descriptor. Raises OSError."""
    try:
        _check(ctypes.CDLL(None, use_errno=True).prctl(38, 1, 0, 0, 0))  # PR_SET_NO_NEW_PRIVS
        _check(_system_call(RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _add_rule(ruleset, path, allowed):
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            allowed &= ~READ_DIR
        rule = struct.pack("=Qi", allowed, place)
        if allowed:
            _check(_system_call(ADD_RULE, ruleset, PATH_BENEATH, rule, 0))
    finally:
        os.close(place)


def _system_call(number, *arguments):
    return ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)


def _check(result):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result
