"""Installing, filling, starting and ending the wiki."""

import json
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.rigs.mediawiki.pages import WikiPage, export_xml, stamp

MEDIAWIKI = Path("/usr/share/mediawiki")
ROUTER = Path(__file__).with_name("router.php")
STARTS_WITHIN_SECONDS = 60
SETTINGS = """
$wgServer = getenv( 'RIG_SERVER' );
$wgArticlePath = '/wiki/$1';
$wgCacheDirectory = '{folder}/cache';
$wgMainCacheType = CACHE_NONE;
$wgJobRunRate = 0;
$wgDBservers = [ [ 'type' => 'sqlite', 'dbname' => 'wiki', 'dbDirectory' => '{folder}/data',
    'load' => 1, 'flags' => DBO_DEFAULT, 'trxMode' => 'IMMEDIATE',
    'variables' => [ 'synchronous' => 'OFF' ] ] ];
"""


def missing() -> str | None:
    """Why no wiki can run here; None if one can."""
    if not (MEDIAWIKI / "api.php").is_file():
        return "MediaWiki is not installed: `make rigs` as root on Debian"
    try:
        found = subprocess.run(
            ["php", "-r", "exit((int)!extension_loaded('pdo_sqlite'));"], check=False
        )
    except FileNotFoundError:
        return "PHP is not installed: `make rigs` as root on Debian"
    return "PHP has no SQLite: `make rigs` as root on Debian" if found.returncode else None


@dataclass(frozen=True)
class RunningWiki:
    """A wiki that answers."""

    folder: Path
    server: str

    @property
    def api(self) -> str:
        return f"{self.server}/w/api.php"

    def fault(self, kind: str, count: int, retry_after: int = 1, every: int = 1) -> None:
        """Of the next requests every `every`th fails so, `count` times (see router.php)."""
        (self.folder / "fault").write_text(f"{kind} {count} {retry_after} {every} 0", "utf-8")

    def calm(self) -> None:
        """No faults, no log."""
        (self.folder / "fault").unlink(missing_ok=True)
        (self.folder / "requests.jsonl").unlink(missing_ok=True)

    def requests(self) -> list[dict[str, Any]]:
        """What was asked since `calm`, in order."""
        log = self.folder / "requests.jsonl"
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
        return [json.loads(line) for line in lines]

    def maintain(self, script: str, *arguments: str, said: str | None = None) -> None:
        """Run one of MediaWiki's maintenance scripts, `said` on its standard input."""
        _maintain(self.folder, script, *arguments, said=said)


@contextmanager
def running(folder: Path, pages: Sequence[WikiPage]) -> Iterator[RunningWiki]:
    """A wiki with these pages for as long as the block lasts; its state lies in `folder`."""
    for name in ("data", "cache"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _install(folder)
    _fill(folder, pages)
    port = _free_port()
    server = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            ["php", "-d", "memory_limit=512M", "-d", "opcache.enable_cli=1", "-S",
             f"127.0.0.1:{port}", str(ROUTER)],
            env=_environment(folder) | {"RIG_SERVER": server, "PHP_CLI_SERVER_WORKERS": "4"},
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        wiki = RunningWiki(folder, server)
        _wait(wiki, process)
        wiki.calm()
        yield wiki
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _install(folder: Path) -> None:
    environment = _environment(folder)
    environment.pop("MW_CONFIG_FILE")
    subprocess.run(
        ["php", str(MEDIAWIKI / "maintenance/install.php"), "TestWiki", "Admin",
         "--pass", secrets.token_urlsafe(24), "--dbtype", "sqlite", "--dbname", "wiki",
         "--dbpath", str(folder / "data"), "--server", "http://127.0.0.1", "--scriptpath", "/w",
         "--lang", "en", "--confpath", str(folder), "--skins", "Vector",
         "--extensions", "Cite,ParserFunctions"],
        env=environment, check=True, capture_output=True,
    )  # fmt: skip
    settings = folder / "LocalSettings.php"
    text = settings.read_text("utf-8") + SETTINGS.replace("{folder}", str(folder))
    settings.write_text(text, "utf-8")


def _fill(folder: Path, pages: Sequence[WikiPage]) -> None:
    (folder / "pages.xml").write_text("\n".join(export_xml(pages)), "utf-8")
    _maintain(folder, "importDump", "--no-updates", "--username-prefix=imported",
              str(folder / "pages.xml"))  # fmt: skip
    _maintain(folder, "refreshLinks")
    _maintain(folder, "runJobs")
    stamp(pages, folder / "data" / "wiki.sqlite")


def _maintain(folder: Path, script: str, *arguments: str, said: str | None = None) -> None:
    done = subprocess.run(
        ["php", str(MEDIAWIKI / f"maintenance/{script}.php"), *arguments],
        env=_environment(folder), input=said, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{script}: {done.stdout[-500:]} {done.stderr[-500:]}")


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "MW_CONFIG_FILE": str(folder / "LocalSettings.php"),
        "RIG_DIR": str(folder),
        "RIG_MEDIAWIKI": str(MEDIAWIKI),
        "RIG_SERVER": "http://127.0.0.1",
    }


def _wait(wiki: RunningWiki, process: subprocess.Popen[bytes]) -> None:
    asked = {"action": "query", "meta": "siteinfo", "format": "json"}
    deadline = time.monotonic() + STARTS_WITHIN_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if "query" in httpx.get(wiki.api, params=asked, timeout=20, trust_env=False).text:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise RuntimeError(f"MediaWiki did not start; see {wiki.folder / 'server.log'}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
