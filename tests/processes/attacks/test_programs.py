"""The program of a participant"""

import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tasks.agents.command import isolation
from tasks.agents.command.isolation import JobPlace, build_run
from tasks.agents.command.program import SANDBOX_TOKEN
from tasks.agents.command.settings import CommandAsk
from tasks.agents.isolation.bubblewrap import find_bubblewrap
from tasks.models.errors import Misconfigured
from tests.attacks.programs import attack, client_of, run
from tests.servers.http import Request, Response
from tests.servers.serving import serving

SECRET = "sk-a-key-of-ours-that-no-program-may-see"
WITHOUT_CAPABILITIES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
ROOT = Path(__file__).parents[3]
GET_VALUE = 12
"""Of `semctl`."""
Found = dict[str, dict[str, str]]


class Told:
    """A sandbox server that tells who asked."""

    asked_by: ClassVar[set[str]] = set()

    def __call__(self, request: Request) -> Response:
        told = f"{request.headers['authorization']} {request.headers['host']}"
        self.asked_by.add(request.headers["authorization"])
        return Response(body=told.encode())


@pytest.fixture(scope="module")
def sandbox() -> Iterator[str]:
    with serving(Told()) as address:
        yield address


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Everything there is to attack, and the file that tells the program of it."""
    folder = tmp_path_factory.mktemp("host")
    files = {"warehouse": "data/warehouse.duckdb", "secret": ".env", "key": "keys/evergreen.key",
             "sibling": "work/hostile/other/program/report.md", "sample": "data/sample.md",
             "archive": "archive/pages.parquet"}  # fmt: skip
    known: dict[str, Any] = {name: str(folder / place) for name, place in files.items()}
    for place in files.values():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(SECRET)
    known |= {"home": str(folder), "code": str(ROOT / "tasks" / "base.py")}
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    known |= {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1], "abstract": f"e{folder}"}
    unix = [socket.socket(socket.AF_UNIX, kind) for kind in (1, 2, 1)]
    known |= {"unix": str(folder / "docker.sock"), "unix datagrams": str(folder / "log.sock")}
    unix[0].bind(known["unix"])
    unix[1].bind(known["unix datagrams"])
    unix[2].bind(f"\0{known['abstract']}")
    for listening in (unix[0], unix[2]):
        listening.listen(5)
    shared = shared_memory.SharedMemory(create=True, size=64)
    environment = {"PATH": os.environ["PATH"], "A_KEY": SECRET}
    # With capabilities it would be out of reach anyway.
    bare = WITHOUT_CAPABILITIES if os.geteuid() == 0 and shutil.which("setpriv") else ()
    victim = subprocess.Popen([*bare, "sleep", "600"], env=environment)
    libc = ctypes.CDLL(None)
    old = {"segment": libc.shmget(0, 64, 0o600), "semaphore": libc.semget(0, 1, 0o600),
           "queue": libc.msgget(0, 0o600)}  # fmt: skip
    known |= {"shared": shared.name, "victim": victim.pid, **old}
    told = folder / "given.json"
    told.write_text(json.dumps(known))
    yield told
    assert victim.poll() is None
    assert os.getpriority(os.PRIO_PROCESS, victim.pid) == os.getpriority(os.PRIO_PROCESS, 0)
    assert libc.semctl(old["semaphore"], 0, GET_VALUE) == 0
    for remove, what in ((libc.shmctl, "segment"), (libc.msgctl, "queue")):
        assert remove(old[what], 0, None) == 0
    assert libc.semctl(old["semaphore"], 0, 0) == 0
    victim.kill()
    victim.wait()
    shared.close()
    shared.unlink()
    for one in (tcp, udp, *unix):
        one.close()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("bubblewrap", marks=pytest.mark.rig),
        "floor",
        "floor without capabilities",
    ],
)
def tried(request: pytest.FixtureRequest, given: Path, sandbox: str) -> Found:
    """What came of each attempt, by network."""
    networks = ("none", "sandbox", "open")
    folder = given.parent / "work"
    if request.param == "floor without capabilities":
        if shutil.which("setpriv") is None:
            pytest.skip("there is no setpriv")
        return {network: _attack_without_capabilities(folder / "bare", given, network, sandbox)
                for network in networks}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "floor":
            patch.setattr(isolation, "find_bubblewrap", lambda: None)
        elif find_bubblewrap() is None:
            pytest.skip("bubblewrap does not work here: run `make rigs`")
        work = folder / request.param
        return {network: attack(work, given, network, sandbox) for network in networks}


def _attack_without_capabilities(
    work: Path, given: Path, network: str, sandbox: str
) -> dict[str, str]:
    command = [*WITHOUT_CAPABILITIES, sys.executable, "-m", "tests.attacks.programs"]
    done = subprocess.run(
        [*command, str(work), str(given), network, sandbox],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def did(found: dict[str, str], *attempts: str) -> dict[str, str]:
    """Those attempts that succeeded."""
    return {name: found[name] for name in attempts if found[name].startswith("did")}


@pytest.fixture(params=["none", "sandbox", "open"])
def found(tried: Found, request: pytest.FixtureRequest) -> dict[str, str]:
    return tried[request.param]


WHOSE = ("warehouse", "secret", "sibling", "sample", "key")


def test_it_reads_nothing_that_is_not_its_own(found: dict[str, str]) -> None:
    """A program reads neither the warehouse nor keys nor reports of others nor the sample."""
    reads = [f"read {whose}" for whose in WHOSE]
    looks = ["list the warehouse's folder", "list the home folder", "follow an own link",
             "watch a folder"]  # fmt: skip
    system = ["hear /etc/shadow", "hear /etc/passwd"]
    assert did(found, *reads, *looks, *system) == {}
    assert SECRET not in json.dumps({k: v for k, v in found.items() if k != "read archive"})


def test_it_changes_nothing_that_is_not_its_own(found: dict[str, str], given: Path) -> None:
    """A program writes, deletes, renames, links and truncates nothing outside of its folders."""
    verbs = ("write", "delete", "rename", "link", "truncate")
    assert did(found, *(f"{verb} {whose}" for verb in verbs for whose in WHOSE)) == {}
    assert did(found, "write code", "write archive") == {}
    known = json.loads(given.read_text())
    assert {Path(known[whose]).read_text() for whose in WHOSE} == {SECRET}


def test_it_changes_no_rights_owners_or_times(found: dict[str, str], given: Path) -> None:
    """A program changes no modes, owners, times or attributes of others' files."""
    flags = ("set flags", "set flags by a long number", "set a project", "set a version")
    assert did(found, "chown warehouse", "setxattr warehouse", *flags, "take a lease") == {}
    assert {found[flag] for flag in flags} == {"EPERM"}
    state = Path(json.loads(given.read_text())["warehouse"]).stat()
    assert (state.st_mode & 0o777, state.st_uid) == (0o644 & ~current_umask(), os.getuid())
    assert state.st_mtime > 1


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_it_has_what_it_needs(found: dict[str, str]) -> None:
    """A program reads its code, its assignment, libraries and the archive."""
    needed = ("read archive", "read its code", "write its folder", "write its cache",
              "read its assignment", "import a library", "fork", "pair")  # fmt: skip
    assert len(did(found, *needed)) == len(needed), found


def test_other_processes_are_out_of_reach(found: dict[str, str]) -> None:
    """A program reads no environment, memory or descriptor of another process, and stops none."""
    assert did(
        found, "environ of another", "environ of its supervisor", "command line of another",
        "memory of another", "kill another", "ptrace another", "limit another", "slow another",
        "take a descriptor", "read our shared memory", "slow all of the user", "slow their files",
        "change a semaphore", "remove a semaphore", "remove a queue", "remove memory",
    ) == {}  # fmt: skip


def test_the_kernel_gives_it_no_way_around(found: dict[str, str]) -> None:
    """A program makes no namespace, mount, device, ring of requests, or calls of other kinds."""
    ways = ("new user namespace", "clone3", "mount", "io_uring", "bpf", "keyctl", "make a device",
            "call as i386", "call as x32")  # fmt: skip
    assert did(found, *ways) == {}


def test_no_network_is_none(tried: Found) -> None:
    """A program has no network unless its entry names one, not even on this machine."""
    ways = ("tcp", "tcp over v6", "udp", "raw", "netlink", "listen", "fast open")
    assert did(tried["none"], *ways) == {}
    assert "sandbox" not in tried["none"]


def test_no_socket_of_this_machine_is_reached(found: dict[str, str]) -> None:
    """A program reaches no unix socket (Docker's, the log's), whatever its network."""
    ways = ("unix", "unix datagrams", "abstract", "pair to unix", "raw", "netlink", "mptcp", "lite")
    assert did(found, *ways) == {}
    assert (found["sctp"], found["pair of another family"]) == ("EACCES", "EACCES")


def test_the_sandbox_network_is_the_sandbox(tried: Found, sandbox: str) -> None:
    """With `network: sandbox` every connection ends at our search server, with the job's token."""
    found = tried["sandbox"]
    host = sandbox.removeprefix("http://")
    assert Told.asked_by == {"Bearer token of a"}
    assert found["sandbox"] == found["sandbox with headers"] == f"did: b'Bearer [hidden] {host}'"
    ways = ("udp", "listen", "fast open", "raw", "connect a pair", "connect a file")
    assert did(found, *ways) == {}
    assert SANDBOX_TOKEN not in found["environment"]


def test_the_open_network_is_open(tried: Found) -> None:
    assert len(did(tried["open"], "tcp", "udp", "listen")) == 3


def test_all_connections_go_to_the_relay(tried: Found, given: Path, sandbox: str) -> None:
    """With `network: sandbox` no other server of this machine hears of the program."""
    port = json.loads(given.read_text())["tcp"]
    with socket.socket() as probe:  # the listener's queue holds what `open` sent, nothing else
        assert probe.connect_ex(("127.0.0.1", port)) == 0
    assert tried["sandbox"]["tcp"].startswith("did")  # to the relay, as everything


@pytest.mark.parametrize("named", ["{warehouse}", "{folder}", "/"])
def test_reads_cannot_name_what_is_private(tmp_path: Path, named: str) -> None:
    """An entry's `reads` cannot name the warehouse, nor a folder that holds it."""
    warehouse = tmp_path / "data" / "warehouse.duckdb"
    warehouse.parent.mkdir()
    warehouse.touch()
    path = named.format(warehouse=warehouse, folder=tmp_path)
    client = client_of(tmp_path / "work", ["true"], warehouse, reads=[path])
    with pytest.raises(Misconfigured, match="would show the program"):
        run(client)


def test_what_misses_the_floor_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program is not run where it cannot be isolated; the error says what is missing."""
    monkeypatch.setattr("tasks.agents.isolation.plan.find_abi", lambda: 4)
    with pytest.raises(Misconfigured, match=r"Landlock, version 6.*this kernel has version 4"):
        run(client_of(tmp_path / "work", ["true"]))


def test_no_isolation_is_written_out() -> None:
    """`isolation: none` must be written out, together with `network: open`."""
    entry = {"kind": "command", "command": ["true"]}
    assert CommandAsk.model_validate(entry).isolation == "sandbox"
    assert CommandAsk.model_validate(entry).network == "none"
    with pytest.raises(ValueError, match="network: open"):
        CommandAsk.model_validate(entry | {"isolation": "none"})


def test_jobs_share_no_cache(tmp_path: Path) -> None:
    """Each job has its own cache, unless the entry says `shared_cache`."""
    script = 'cd "$EVERGREEN_CACHE"; cat note 2>/dev/null || echo nothing; echo seen > note'
    for shared, second in ((False, "nothing\n"), (True, "seen\n")):
        client = client_of(tmp_path / str(shared), ["sh", "-c", script], shared_cache=shared)
        assert run(client, "job-1").text == "nothing\n"
        assert run(client, "job-2").text == second


def test_an_image_needs_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with an image runs in a container or not at all."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setattr("tasks.agents.command.isolation.ENGINES", ("docker",))
    with pytest.raises(Misconfigured, match=r"sets `image`, but (docker|neither)"):
        run(client_of(tmp_path / "work", ["/agent"], image="a:1.0"))


def test_a_container_gets_no_more_than_a_program_here(tmp_path: Path) -> None:
    """A container has no network unless it is named, no capabilities, its own folders alone, and
    no key on its command line."""
    ask = CommandAsk.model_validate(
        {"kind": "command", "command": ["/agent"], "image": "a:1.0", "environment": ["ITS_KEY"]}
    )
    place = JobPlace(tmp_path / "j", tmp_path / "j" / "cache", tmp_path / "archive", ())
    command = build_run("/usr/bin/docker", ask, place, "c", {"HOME": "/h", "PATH": "/ours"})
    said = " ".join(command)
    for held in ("--network none", "--read-only", "--cap-drop ALL", "no-new-privileges"):
        assert held in said
    mounted = [command[n + 1] for n, part in enumerate(command) if part == "--volume"]
    assert mounted == [
        f"{tmp_path}/j/program:{tmp_path}/j/program", f"{tmp_path}/j/cache:{tmp_path}/j/cache",
        f"{tmp_path}/j/assignment.json:{tmp_path}/j/assignment.json:ro",
        f"{tmp_path}/archive:{tmp_path}/archive:ro",
    ]  # fmt: skip
    assert "--env ITS_KEY --workdir" in said
    assert "/ours" not in said
    for more in ({"network": "sandbox"}, {"isolation": "none", "network": "open"}):
        with pytest.raises(ValueError, match="beside `image`"):
            CommandAsk.model_validate(ask.model_dump() | more)
