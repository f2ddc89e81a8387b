"""A participant's program that tries everything; it prints what came of each attempt, as JSON.

It runs by itself, in the sandbox: it imports nothing of ours but what it attacks.
"""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import signal
import socket
import struct
import sys
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
GIVEN = json.loads(Path(sys.argv[1]).read_text("utf-8"))
"""What there is to attack; see `test_programs.py`."""
found: dict[str, str] = {}


def attempt(name: str, act: Callable[[], Any]) -> None:
    """Note what an attempt returned, or its error's name."""
    try:
        found[name] = f"did: {act()!r}"[:300]
    except OSError as error:
        found[name] = errno.errorcode.get(error.errno or 0, str(error))
    except Exception as error:
        found[name] = type(error).__name__


def call(number: int, *arguments: Any) -> int:
    """A system call by its number, as one who avoids libc would make it."""
    result = int(LIBC.syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def connect(family: int, kind: int, address: Any) -> str:
    with socket.socket(family, kind) as one:
        one.settimeout(3)
        one.connect(address)
        one.send(b"hello")
        return "connected"


def read(path: str) -> str:
    return Path(path).read_text("utf-8", errors="replace")[:100]


def append(path: str) -> int:
    with Path(path).open("ab") as file:
        return file.write(b"#")


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def files() -> None:
    for name in ("warehouse", "secret", "sibling", "sample", "key"):
        path = GIVEN[name]
        attempt(f"read {name}", partial(read, path))
        attempt(f"write {name}", partial(append, path))
        attempt(f"delete {name}", Path(path).unlink)
        attempt(f"rename {name}", partial(Path(path).rename, "taken"))
        attempt(f"link {name}", partial(os.link, path, "linked"))
        attempt(f"truncate {name}", partial(os.truncate, path, 0))
    attempt("list the warehouse's folder", lambda: names(Path(GIVEN["warehouse"]).parent))
    attempt("list the home folder", lambda: names(Path(GIVEN["home"])))
    attempt("follow an own link", follow)
    for name in ("chmod", "chown", "utime", "setxattr"):
        attempt(f"{name} warehouse", partial(change, name))
    attempt("write code", lambda: append(GIVEN["code"]))
    attempt("write archive", lambda: append(GIVEN["archive"]))
    attempt("read archive", lambda: read(GIVEN["archive"]))
    attempt("read its code", lambda: read(__file__))
    attempt("write its folder", lambda: Path("own.txt").write_text("mine"))
    attempt("write its cache", lambda: Path(os.environ["EVERGREEN_CACHE"], "x").write_text("x"))
    attempt("read its assignment", lambda: read(os.environ["EVERGREEN_ASSIGNMENT"]))
    attempt("import a library", lambda: __import__("pyarrow.parquet").__name__)
    attempt("hear /etc/shadow", lambda: read("/etc/shadow"))
    attempt("hear /etc/passwd", lambda: read("/etc/passwd"))


def follow() -> str:
    with suppress(FileExistsError):
        Path("innocent").symlink_to(GIVEN["warehouse"])
    return read("innocent")


def change(how: str) -> None:
    path = GIVEN["warehouse"]
    if how == "chmod":
        Path(path).chmod(0o777)
        call(90 if sys.maxsize else 0, path.encode(), 0o777)
        with suppress(OSError):
            call(452, -100, path.encode(), 0o777, 0)  # fchmodat2
    elif how == "chown":
        os.chown(path, 12345, 12345)
    elif how == "utime":
        os.utime(path, (0, 0))
    else:
        os.setxattr(path, "user.evil", b"1")


def processes() -> None:
    victim = GIVEN["victim"]
    attempt("environ of another", lambda: read(f"/proc/{victim}/environ"))
    attempt("environ of its supervisor", lambda: read(f"/proc/{os.getppid()}/environ"))
    attempt("command line of another", lambda: read(f"/proc/{victim}/cmdline"))
    attempt("memory of another", lambda: read(f"/proc/{victim}/mem"))
    attempt("kill another", lambda: os.kill(victim, signal.SIGKILL))
    attempt("ptrace another", lambda: call(101, 16, victim, 0, 0))
    attempt("limit another", lambda: call(302, victim, 7, struct.pack("QQ", 1, 1), 0))
    attempt("slow another", lambda: os.setpriority(os.PRIO_PROCESS, victim, 19))
    attempt("slow all of the user", lambda: os.setpriority(os.PRIO_USER, 0, 19))
    attempt("slow their files", lambda: call(251, 3, 0, 3 << 13))
    attempt("signal by a socket", signal_by_socket)
    attempt("change a semaphore", lambda: call(66, GIVEN["semaphore"], 0, 16, 7))
    attempt("remove a semaphore", lambda: call(66, GIVEN["semaphore"], 0, 0, 0))
    attempt("remove a queue", lambda: call(71, GIVEN["queue"], 0, 0))
    attempt("remove memory", lambda: call(31, GIVEN["segment"], 0, 0))
    attempt("watch a folder", lambda: call(254, call(253), folder_of("warehouse"), 0x100))
    attempt("take a descriptor", lambda: call(438, os.pidfd_open(victim), 1, 0))
    attempt("read our shared memory", lambda: shared_memory.SharedMemory(GIVEN["shared"]).size)


def folder_of(name: str) -> bytes:
    return os.fsencode(Path(GIVEN[name]).parent)


def signal_by_socket() -> None:
    one, other = socket.socketpair()
    fcntl.fcntl(one, fcntl.F_SETOWN, GIVEN["victim"])
    fcntl.fcntl(one, 10, signal.SIGKILL)  # F_SETSIG
    fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    other.send(b"x")


def request(number: int) -> int:
    """An `ioctl` or so that needs a file opened for reading alone."""
    with Path(GIVEN["code"]).open("rb") as file:
        return call(16, file.fileno(), ctypes.c_long(number), ctypes.create_string_buffer(256))


def lease() -> None:
    with Path(GIVEN["code"]).open("rb") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)


def in_child(act: Callable[[], Any]) -> str:
    """What a child returns by an act that may cost its life."""
    child = os.fork()
    if not child:
        os._exit(0 if act() > 0 else 1)
    if end := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise OSError(f"ended: {end}")
    return "returned"


def call_as_i386() -> int:
    """Ask for its own number as a program of 32 bits does."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
    place = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return int(ctypes.CFUNCTYPE(ctypes.c_int)(place)())


def kernel() -> None:
    attempt("call as i386", lambda: in_child(call_as_i386))
    attempt("call as x32", lambda: in_child(lambda: LIBC.syscall(ctypes.c_long(0x40000027))))
    attempt("set flags", lambda: request(0x40086602))
    attempt("set flags by a long number", lambda: request(1 << 32 | 0x40086602))
    attempt("set a project", lambda: request(0x401C5820))
    attempt("set a version", lambda: request(0x40087602))
    attempt("take a lease", lease)
    attempt("new user namespace", lambda: call(272, 0x10000000))
    attempt("clone3", lambda: call(435, 0, 0))
    attempt("mount", lambda: call(165, b"none", b"/tmp", b"tmpfs", 0, 0))
    attempt("io_uring", lambda: call(425, 1, ctypes.create_string_buffer(120)))
    attempt("bpf", lambda: call(321, 0, 0, 0))
    attempt("keyctl", lambda: call(250, 0, -3, 0))
    attempt("make a device", lambda: os.mknod("device", 0o020666, os.makedev(1, 1)))
    attempt("fork", fork)


def fork() -> int:
    child = os.fork()
    if not child:
        os._exit(7)
    return os.waitpid(child, 0)[1] >> 8


def network() -> None:
    inet, inet6, unix = socket.AF_INET, socket.AF_INET6, socket.AF_UNIX
    tcp, udp = socket.SOCK_STREAM, socket.SOCK_DGRAM
    attempt("tcp", lambda: connect(inet, tcp, ("127.0.0.1", GIVEN["tcp"])))
    attempt("tcp over v6", lambda: connect(inet6, tcp, ("::ffff:127.0.0.1", GIVEN["tcp"])))
    attempt("udp", lambda: connect(inet, udp, ("127.0.0.1", GIVEN["udp"])))
    attempt("mptcp", lambda: socket.socket(inet, tcp, 262).close())
    attempt("sctp", lambda: socket.socket(inet, tcp, 132).close())
    attempt("lite", lambda: socket.socket(inet, udp, 136).close())
    attempt("pair of another family", lambda: socket.socketpair(socket.AF_TIPC, tcp))
    attempt("raw", lambda: socket.socket(inet, socket.SOCK_RAW, 1).close())
    attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close())
    attempt("unix", lambda: connect(unix, tcp, GIVEN["unix"]))
    attempt("unix datagrams", lambda: connect(unix, udp, GIVEN["unix datagrams"]))
    attempt("abstract", lambda: connect(unix, tcp, "\0" + GIVEN["abstract"]))
    attempt("pair to unix", pair_to_unix)
    attempt("pair", lambda: str(socket.socketpair()))
    attempt("listen", listen)
    attempt("fast open", fast_open)
    pair = socket.socketpair()
    attempt("connect a pair", lambda: connect_by_number(pair[0].fileno()))
    attempt("connect a file", lambda: connect_by_number(0))
    if address := os.environ.get("EVERGREEN_SANDBOX"):
        attempt("sandbox", lambda: urllib.request.urlopen(f"{address}/told", timeout=10).read())
        headers = {"Authorization": "Bearer mine", "Host": "evil.example", "X-Api-Key": "mine"}
        asked = urllib.request.Request(f"{address}/told", headers=headers)
        attempt("sandbox with headers", lambda: urllib.request.urlopen(asked, timeout=10).read())


def pair_to_unix() -> str:
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"hello", GIVEN["unix datagrams"])
    return "sent"


def connect_by_number(descriptor: int) -> int:
    place = struct.pack("=HHI8x", socket.AF_INET, socket.htons(80), 0)
    return call(42, descriptor, place, len(place))


def listen() -> str:
    with socket.create_server(("127.0.0.1", 0)):
        return "listened"


def fast_open() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        return one.sendto(b"hello", 0x20000000, ("127.0.0.1", GIVEN["tcp"]))


if __name__ == "__main__":
    signal.alarm(60)  # a connection that nobody answers would wait for ever
    files()
    processes()
    kernel()
    network()
    found["environment"] = " ".join(sorted(os.environ))
    print(json.dumps(found))
