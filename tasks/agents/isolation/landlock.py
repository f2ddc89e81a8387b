"""Landlock: which files a process and all that it starts may use.

The kernel's interface (Documentation/userspace-api/landlock.rst) through ctypes; the package on
PyPI knows neither networks nor scopes, which are half of what is needed here.
"""

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

MIN_ABI = 6
"""The first that keeps signals and abstract sockets inside (Linux 6.12)."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1 << 0
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE = 1 << 4 | 1 << 5
_MAKE_DIR, _MAKE_FILE, _MAKE_FIFO, _MAKE_LINK = 1 << 7, 1 << 8, 1 << 10, 1 << 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14
ALL_FILES = (1 << 16) - 1
"""Every access to files up to ABI 6, device files' `ioctl` among them."""
BIND_AND_CONNECT = 1 << 0 | 1 << 1
"""TCP's (ABI 4)."""
ABSTRACT_SOCKETS_AND_SIGNALS = 1 << 0 | 1 << 1

READ = _READ_FILE | _READ_DIR | _EXECUTE
WRITE = (
    READ
    | _WRITE_FILE
    | _REMOVE
    | _MAKE_DIR
    | _MAKE_FILE
    | _MAKE_FIFO
    | _MAKE_LINK
    | _REFER
    | _TRUNCATE
)
"""No devices, no sockets."""
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE


class _Ruleset(ctypes.Structure):
    _fields_ = [
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32)]


def find_abi() -> int:
    """Return the version of the kernel's Landlock; 0 if it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, 0, _VERSION)))


def restrict_files(
    readable: Iterable[str],
    listable: Iterable[str],
    writable: Iterable[str],
    devices: Iterable[str],
    *,
    tcp: bool,
) -> None:
    """Restrict this process and what it starts, for good; `no_new_privs` must be set.

    readable: files and folders to read and execute; those that do not exist are left out.
    listable: folders of which only names can be read.
    devices: to read and write. tcp: whether TCP is left as it is.

    Raises:
        OSError: the kernel refuses.
    """
    libc = _libc()
    ruleset = _Ruleset(ALL_FILES, 0 if tcp else BIND_AND_CONNECT, ABSTRACT_SOCKETS_AND_SIGNALS)
    handle = _check(libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.sizeof(ruleset), 0))
    try:
        for paths, access in (
            (readable, READ),
            (listable, _READ_DIR),
            (writable, WRITE),
            (devices, _READ_FILE | _WRITE_FILE),
        ):
            for path in paths:
                _allow(handle, path, access)
        _check(libc.syscall(_RESTRICT_SELF, handle, 0))
    finally:
        os.close(handle)


def restrict_signals() -> None:
    """Keep signals inside once more: what was started before is out of reach from now on.

    Raises:
        OSError: the kernel refuses.
    """
    libc = _libc()
    ruleset = _Ruleset(0, 0, ABSTRACT_SOCKETS_AND_SIGNALS)
    handle = _check(libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.sizeof(ruleset), 0))
    try:
        _check(libc.syscall(_RESTRICT_SELF, handle, 0))
    finally:
        os.close(handle)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not Path(f"/proc/self/fd/{place}").is_dir():
            access &= _OF_A_FILE
        rule = _PathBeneath(access, place)
        _check(_libc().syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0))
    finally:
        os.close(place)


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
