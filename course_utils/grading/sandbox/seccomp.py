"""Lets a process make only the system calls that computing needs, with Linux's seccomp and a filter written here.

Why by hand: the maintained bindings need libseccomp on the machine and look for it with tools that a locked process may not
start. The filter is a short list of numbers; the tables below are all there is to review. Source: Linux's
Documentation/userspace-api/seccomp_filter.rst, and linux/filter.h for the instructions.
"""

import ctypes
import errno
import functools
import platform
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ALLOW, KILL, DENY = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_JMP|JSET|K, BPF_RET|K
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # places in struct seccomp_data
O_WRITES = 0o3 | 0o100 | 0o1000 | 0o20000000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_TMPFILE
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
MAP_GROWSDOWN_HUGETLB = 0x100 | 0x40000

# System calls that read a clock, take memory, use what is open, or look at files (which Landlock restricts).
# Not here, so refused: whatever makes a process, a thread, a socket, a file or shared memory, signals or traces
# another process, runs a program, changes an owner, a mode, a limit, the clock or the machine.
# stat and its like reveal a file's size and times, and Landlock allows it. A filter sees a path's address and not the path,
# so it could only refuse them for all files, and Python imports nothing without them: whoever guesses a path learns that much.
X86_64 = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8, "mmap": 9,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "ioctl": 16,
    "pread64": 17, "readv": 19, "writev": 20, "access": 21, "select": 23, "sched_yield": 24, "mremap": 25, "madvise": 28,
    "dup": 32, "dup2": 33, "pause": 34, "nanosleep": 35, "getitimer": 36, "alarm": 37, "setitimer": 38, "getpid": 39,
    "exit": 60, "uname": 63, "fcntl": 72, "getcwd": 79, "readlink": 89, "gettimeofday": 96, "getrlimit": 97,
    "getrusage": 98, "sysinfo": 99, "times": 100, "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108,
    "getppid": 110, "getpgrp": 111, "sigaltstack": 131, "sched_getparam": 143, "sched_getscheduler": 145, "gettid": 186,
    "time": 201, "futex": 202, "sched_getaffinity": 204, "getdents64": 217, "set_tid_address": 218, "restart_syscall": 219,
    "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231,
    "openat": 257, "newfstatat": 262, "readlinkat": 267, "faccessat": 269, "pselect6": 270, "ppoll": 271,
    "set_robust_list": 273, "dup3": 292, "prlimit64": 302, "getcpu": 309, "getrandom": 318, "membarrier": 324,
    "statx": 332, "rseq": 334, "faccessat2": 439,
}  # fmt: skip
AARCH64 = {
    "getcwd": 17, "dup": 23, "dup3": 24, "fcntl": 25, "ioctl": 29, "faccessat": 48, "openat": 56, "close": 57,
    "getdents64": 61, "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66, "pread64": 67, "pselect6": 72,
    "ppoll": 73, "readlinkat": 78, "newfstatat": 79, "fstat": 80, "exit": 93, "exit_group": 94, "set_tid_address": 96,
    "futex": 98, "set_robust_list": 99, "nanosleep": 101, "getitimer": 102, "setitimer": 103, "clock_gettime": 113,
    "clock_getres": 114, "clock_nanosleep": 115, "sched_getscheduler": 120, "sched_getparam": 121, "sched_getaffinity": 123,
    "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134, "rt_sigprocmask": 135,
    "rt_sigreturn": 139, "times": 153, "uname": 160, "getrlimit": 163, "getrusage": 165, "getcpu": 168,
    "gettimeofday": 169, "getpid": 172, "getppid": 173, "getuid": 174, "geteuid": 175, "getgid": 176, "getegid": 177,
    "gettid": 178, "sysinfo": 179, "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222,
    "mprotect": 226, "madvise": 233, "prlimit64": 261, "getrandom": 278, "membarrier": 283, "statx": 291, "rseq": 293,
    "faccessat2": 439,
}  # fmt: skip
MACHINES = {"x86_64": (0xC000003E, X86_64), "aarch64": (0xC00000B7, AARCH64)}

# Calls allowed only with some values of one argument: (which argument, the values). fcntl: copy a descriptor, read or set its
# flags, never its owner or size; ioctl: is it a terminal, close on exec; prlimit64: a null pointer, so only reading limits;
# madvise: what allocators ask for, but never that a file leaves memory (MADV_COLD, MADV_PAGEOUT), which a later process can see.
# fadvise64 is not among the calls for the same reason.
ONLY_WITH = {
    "fcntl": (1, (0, 1, 2, 3, 1030)),
    "ioctl": (1, (0x5401, 0x5450, 0x5451)),
    "prlimit64": (2, (0,)),
    "madvise": (2, (0, 1, 2, 3, 4, 8, 14, 15, 16, 17)),
}


@functools.cache
def libc() -> ctypes.CDLL:
    """Return the C library, opened once."""
    return ctypes.CDLL(None, use_errno=True)


def supported() -> bool:
    """Return whether this kernel takes filters and this machine's calls are listed here."""
    if platform.system() != "Linux" or platform.machine() not in MACHINES:
        return False
    # None is a null pointer: EFAULT if the kernel knows filters.
    libc().prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, None, 0, 0)
    return ctypes.get_errno() == errno.EFAULT


def filter_for(machine: str, may_write: bool = True) -> list[tuple[int, int, int, int]]:
    """Return the filter's instructions (code, jump if true, jump if false, value) for a machine such as "x86_64".

    Args:
        machine: as `platform.machine()` names it.
        may_write: False if nothing else keeps files from being created, emptied or opened for writing.
    """
    architecture, numbers = MACHINES[machine]
    program = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),  # 32-bit calls on a 64-bit machine have other numbers
        (LOAD, 0, 0, NUMBER),
    ]
    for name, number in numbers.items():
        if name in ONLY_WITH:
            program += _argument_instructions(number, *ONLY_WITH[name])
        elif name in ("open", "openat") and not may_write:
            flags = ARGUMENTS + 8 * (1 if name == "open" else 2)
            inside = [(LOAD, 0, 0, flags), (ANY_BIT, 0, 1, O_WRITES), (RETURN, 0, 0, DENY), (RETURN, 0, 0, ALLOW)]
            program += [(EQUAL, 0, len(inside), number), *inside]
        elif name == "mmap":
            program += _mmap_instructions(number)
        else:
            program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    return [*program, (RETURN, 0, 0, DENY)]


def _mmap_instructions(number):
    """Return instructions that allow mmap, except for memory that RLIMIT_DATA does not count: shared, of a stack, of huge pages."""
    inside = [
        (LOAD, 0, 0, ARGUMENTS + 8 * 3),
        (ANY_BIT, 2, 0, MAP_GROWSDOWN_HUGETLB),
        (ANY_BIT, 0, 2, MAP_ANONYMOUS),
        (ANY_BIT, 0, 1, MAP_SHARED),
        (RETURN, 0, 0, DENY),
        (RETURN, 0, 0, ALLOW),
    ]
    return [(EQUAL, 0, len(inside), number), *inside]


def _argument_instructions(number, argument, values):
    """Return instructions that allow a call if both halves of one argument are those of a value, and refuse it otherwise."""
    place = ARGUMENTS + 8 * argument  # little-endian: the lower half comes first
    inside = [(LOAD, 0, 0, place + 4), (EQUAL, 1, 0, 0), (RETURN, 0, 0, DENY), (LOAD, 0, 0, place)]
    for value in values:
        inside += [(EQUAL, 0, 1, value), (RETURN, 0, 0, ALLOW)]
    inside.append((RETURN, 0, 0, DENY))
    return [(EQUAL, 0, len(inside), number), *inside]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


@functools.cache
def compiled(may_write: bool = True) -> tuple[int, bytes]:
    """Return this machine's filter: the number of instructions, and the instructions."""
    instructions = filter_for(platform.machine(), may_write)
    return len(instructions), b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)


def lock(may_write: bool = True) -> None:
    """Put the filter on this process, for good. Raises OSError if the kernel refuses it."""
    program = _Program(*compiled(may_write))
    if libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc().prctl(
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "the kernel refused the filter of system calls")
