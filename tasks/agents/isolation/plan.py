"""What a program may read, write and reach, as its supervisor and its launcher are told."""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from tasks.agents.isolation.landlock import MIN_ABI, find_abi
from tasks.agents.isolation.system_calls import load_library

SYSTEM = (
    "/bin", "/lib", "/lib32", "/lib64", "/sbin",
    *(f"{prefix}/{name}" for prefix in ("/usr", "/usr/local")
      for name in ("bin", "include", "lib", "lib32", "lib64", "libexec", "sbin", "share")),
    "/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/fonts",
    "/etc/gai.conf", "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache", "/etc/localtime",
    "/etc/mime.types", "/etc/nsswitch.conf", "/etc/pki/ca-trust", "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/protocols", "/etc/resolv.conf",
    "/etc/services", "/etc/ssl/cert.pem", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    "/sys/devices/system/cpu", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage",
)  # fmt: skip
"""Not all of /usr, where people keep projects (/usr/src/app), nor of /etc/ssl, which has keys."""
PROCESSES = (
    "/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/self",
    "/proc/stat", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/random",
    "/proc/sys/vm/overcommit_memory", "/proc/uptime", "/proc/version",
)  # fmt: skip
"""Without a process namespace of its own; /proc would show everybody's processes."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
OF_A_PREFIX = ("bin", "include", "lib", "lib64", "pyvenv.cfg", "share/zoneinfo")
"""What belongs to Python in its prefix, which may also be a project's folder, or ~/.local, whose
`share` has people's files."""


@dataclass(frozen=True)
class IsolationPlan:
    """The limits of one program."""

    readable: tuple[str, ...]
    """Absolute paths; a folder with all that is in it."""
    listable: tuple[str, ...]
    """Folders of which only the names of what is in them can be read, at any depth."""
    writable: tuple[str, ...]
    network: str
    """`none`, `sandbox` or `open`."""
    bubblewrap: str | None
    """bubblewrap's path, where it works: it adds namespaces to Landlock and seccomp."""

    def render(self) -> str:
        """As one argument of the launcher."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> "IsolationPlan":
        given = json.loads(text)
        lists = {name: tuple(given[name]) for name in ("readable", "listable", "writable")}
        return cls(**given | lists)

    def describe(self) -> str:
        """Name what holds the program, for people."""
        around = "bubblewrap, " if self.bubblewrap else ""
        return f"{around}Landlock and seccomp; network: {self.network}"


def describe_missing() -> str | None:
    """Say what this machine lacks for isolating programs; None if nothing."""
    if not sys.platform.startswith("linux"):
        return f"Linux (this is {sys.platform})"
    missing = []
    abi = find_abi()
    if abi < MIN_ABI:
        has = f"this kernel has version {abi}" if abi else "this kernel has none, or it is off"
        missing.append(f"Landlock, version {MIN_ABI}, of Linux 6.12 ({has})")
    try:
        load_library()
    except ImportError:
        missing.append("libseccomp (Debian: libseccomp2)")
    return " and ".join(missing) or None


def find_python_paths() -> tuple[str, ...]:
    """Return the folders of this interpreter and its packages."""
    return tuple(list_prefix(sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix))


def list_prefix(*prefixes: str) -> list[str]:
    """Return what belongs to Python in its prefixes; no link out of one, which anybody may plant
    in a virtual environment of theirs."""
    found = [
        (Path(prefix), Path(prefix) / name)
        for prefix in dict.fromkeys(prefixes)
        for name in OF_A_PREFIX
    ]
    return [
        str(path)
        for prefix, path in found
        if path.exists() and path.resolve().is_relative_to(prefix.resolve())
    ]


def leave_out(
    paths: Iterable[str], private: Iterable[Path]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paths without private ones, and the folders that were opened for it.

    Rules of Landlock only ever allow: what lies in an allowed folder cannot be taken out again. So
    a folder that holds something private is replaced by its content, and comes back among those
    that can be listed: Python finds no module in a folder that it cannot list.
    """
    hidden = [path.resolve() for path in private if path.exists()]
    found: list[str] = []
    opened: list[str] = []
    for path in map(Path, paths):
        real = path.resolve()
        if any(real.is_relative_to(one) for one in hidden):
            continue
        if any(one.is_relative_to(real) for one in hidden):
            # A link leads to what is allowed elsewhere, or to what was never named.
            inner = sorted(str(each) for each in path.iterdir() if not each.is_symlink())
            within, opened_within = leave_out(inner, hidden)
            found += within
            opened += [str(path), *opened_within]
        else:
            found.append(str(path))
    return tuple(found), tuple(opened)
