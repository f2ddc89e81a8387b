"""seccomp: which system calls a program and all that it starts may make.

libseccomp (through pyseccomp) writes the filter: it knows the calls' numbers on each architecture.
"""

import ctypes
import errno
import socket
from typing import Any

UNKNOWN = -1
"""libseccomp's number of a call it does not know; others below 0 are of other architectures."""
TYPE_MASK = 0xF
"""The bits of a socket's type; the others are flags."""
NEW_NAMESPACES = 0x7E020080
"""Every CLONE_NEW… flag."""
LOW_BITS = 0xFFFFFFFF
"""The kernel looks at no others of a number of type `int`."""
FAST_OPEN = 0x20000000
"""MSG_FASTOPEN connects without `connect`."""

PROTOCOLS = {
    socket.SOCK_STREAM: socket.IPPROTO_TCP,
    socket.SOCK_DGRAM: socket.IPPROTO_UDP,
}

REACHES_OTHERS = (
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
    "msgctl", "msgget", "msgsnd", "msgrcv", "semctl", "semget", "semop", "semtimedop",
    "shmctl", "shmget", "shmat", "mq_open", "mq_unlink", "migrate_pages", "move_pages",
    "inotify_add_watch",
)  # fmt: skip
"""Other processes' memory, files and queues; a watch names what they do in folders that the program
cannot list."""
CHANGES_THE_SYSTEM = (
    "mount", "umount2", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsmount",
    "fsconfig", "fspick", "mount_setattr", "pivot_root", "chroot", "unshare", "setns",
    "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key",
    "name_to_handle_at", "open_by_handle_at",
    "fanotify_init", "init_module", "finit_module", "delete_module", "kexec_load",
    "kexec_file_load", "reboot", "swapon", "swapoff", "quotactl", "quotactl_fd", "acct", "syslog",
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname",
    "vhangup", "iopl", "ioperm", "lookup_dcookie", "modify_ldt", "personality",
)  # fmt: skip
PASSES_THE_FILTER = ("io_uring_setup", "io_uring_enter", "io_uring_register")
"""Its requests open, connect and send without a system call each."""
CHANGES_OWNERS = ("chown", "fchown", "lchown", "fchownat")
CHANGES_ATTRIBUTES = (
    "setxattr", "lsetxattr", "fsetxattr", "setxattrat",
    "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
)  # fmt: skip
CHANGES_FLAGS = (
    0x40086602, 0x40046602,  # FS_IOC_SETFLAGS, with 64 and 32 bits
    0x40087602, 0x40086604,  # FS_IOC_SETVERSION, and ext4's own
    0x401C5820,  # FS_IOC_FSSETXATTR
    0x40806685,  # FS_IOC_ENABLE_VERITY
    0x800C6613,  # FS_IOC_SET_ENCRYPTION_POLICY
)  # fmt: skip
"""Requests of `ioctl` that take a file which was opened for reading."""
SET_LEASE = 1024
"""Request of `fcntl` that keeps others waiting who open the file."""
CHANGES_MODES_AND_TIMES = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "utimensat", "futimesat",
)  # fmt: skip
"""Landlock does not stop these outside of the program's folders. They succeed without an effect:
tools that copy or unpack files make them all the time."""
NUMBERS = {
    "quotactl_fd": 443, "process_madvise": 440, "mount_setattr": 442, "fchmodat2": 452,
    "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467, "file_setattr": 469,
}  # fmt: skip
"""Calls that an older libseccomp does not know by name; the same on every architecture."""
OF_ANOTHER_PROCESS = (
    "prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr",
)  # fmt: skip
"""Their first argument is a process; 0 is the caller."""
OF_OTHER_PROCESSES = {"setpriority": 0, "ioprio_set": 1}
"""Their first argument says whether the second is a process (this number), a group or a user."""


def load_library() -> Any:
    """Return pyseccomp.

    Raises:
        ImportError: it, or libseccomp, is missing.
    """
    try:
        import pyseccomp
    except RuntimeError as error:  # what it raises without the library
        raise ImportError(str(error)) from None
    return pyseccomp


def filter_calls(network: str) -> int | None:
    """Restrict this process and what it starts, for good; `no_new_privs` must be set.

    network: `none`: no sockets but pairs. `sandbox`: TCP, and whoever has the descriptor that this
    returns decides on each `connect`. `open`: TCP and UDP.

    Raises:
        OSError: the kernel refuses.
    """
    library = load_library()
    made = library.SyscallFilter(library.ALLOW)
    _refuse_calls(library, made)
    _refuse_sockets(library, made, network)
    if network == "sandbox":
        made.add_rule(library.NOTIFY, "connect")
    made.load()
    return (
        int(library._libseccomp.seccomp_notify_fd(made._filter)) if network == "sandbox" else None
    )


def _refuse_calls(library: Any, made: Any) -> None:
    refused = library.ERRNO(errno.EPERM)
    for name in (*REACHES_OTHERS, *CHANGES_THE_SYSTEM, *PASSES_THE_FILTER, *CHANGES_OWNERS):
        _add(library, made, refused, name)
    for name in CHANGES_ATTRIBUTES:
        _add(library, made, library.ERRNO(errno.EOPNOTSUPP), name)
    for name in CHANGES_MODES_AND_TIMES:
        _add(library, made, library.ERRNO(0), name)
    for name in OF_ANOTHER_PROCESS:
        _add(library, made, refused, name, library.Arg(0, library.NE, 0))
    for name, process in OF_OTHER_PROCESSES.items():
        _add(library, made, refused, name, library.Arg(0, library.NE, process))
        _add(library, made, refused, name, library.Arg(1, library.NE, 0))
    for call, requests in (("ioctl", CHANGES_FLAGS), ("fcntl", (SET_LEASE,))):
        for request in requests:
            low = library.Arg(1, library.MASKED_EQ, LOW_BITS, request)
            _add(library, made, refused, call, low)
    for flag in (1 << bit for bit in range(32) if NEW_NAMESPACES >> bit & 1):
        _add(library, made, refused, "clone", library.Arg(0, library.MASKED_EQ, flag, flag))
    _add(library, made, library.ERRNO(errno.ENOSYS), "clone3")  # its flags are in memory


def _refuse_sockets(library: Any, made: Any, network: str) -> None:
    """Refuse every socket that the network does not need, and every way around `connect`."""
    refused = library.ERRNO(errno.EACCES)
    families = () if network == "none" else (socket.AF_INET, socket.AF_INET6)
    types = (socket.SOCK_STREAM, socket.SOCK_DGRAM) if network == "open" else (socket.SOCK_STREAM,)
    highest = max(socket.AF_INET, socket.AF_INET6)
    for family in set(range(highest + 1)) - set(families):
        _add(library, made, refused, "socket", library.Arg(0, library.EQ, family))
    _add(library, made, refused, "socket", library.Arg(0, library.GT, highest))
    if families:  # others connect without `connect` (SCTP), or pass Landlock (MPTCP)
        protocols = {0, *(PROTOCOLS[kind] for kind in types)}
        for protocol in set(range(max(protocols))) - protocols:
            _add(library, made, refused, "socket", library.Arg(2, library.EQ, protocol))
        _add(library, made, refused, "socket", library.Arg(2, library.GT, max(protocols)))
    _add(library, made, refused, "socketpair", library.Arg(0, library.NE, socket.AF_UNIX))
    # A pair is connected; one of datagrams could be connected anew, to somebody's socket file.
    for call, allowed in (("socket", types), ("socketpair", (socket.SOCK_STREAM,))):
        for kind in set(range(TYPE_MASK + 1)) - set(allowed):
            of_kind = library.Arg(1, library.MASKED_EQ, TYPE_MASK, kind)
            _add(library, made, refused, call, of_kind)
    if network != "open":
        for name in ("bind", "listen", "accept", "accept4"):
            _add(library, made, refused, name)
        for name, flags in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
            fast = library.Arg(flags, library.MASKED_EQ, FAST_OPEN, FAST_OPEN)
            _add(library, made, refused, name, fast)
    if network == "none":
        _add(library, made, refused, "connect")


def _add(library: Any, made: Any, action: int, name: str, *arguments: Any) -> None:
    """Add a rule; a call that this architecture does not have needs none."""
    number = library.resolve_syscall(library.Arch.NATIVE, name)
    if number == UNKNOWN:
        number = NUMBERS.get(name, UNKNOWN)
    if number >= 0:
        made.add_rule(action, number, *arguments)


def set_no_new_privileges() -> None:
    """Give up all capabilities, and ever gaining privileges by starting a program.

    Raises:
        OSError: the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP; refused where there are none to drop
    libc.prctl(47, 4, 0, 0, 0)  # PR_CAP_AMBIENT, clear all
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    none = (ctypes.c_uint32 * 6)()
    for result in (libc.capset(header, none), libc.prctl(38, 1, 0, 0, 0)):  # PR_SET_NO_NEW_PRIVS
        if result != 0:
            number = ctypes.get_errno()
            raise OSError(number, "capabilities could not be dropped")
