"""Check that the endpoints of models, agents and the wiki answer, and compare the clocks; who is
asked over HTTP, with which key, and how much depends on each of them.

Each endpoint gets one request without a key, all concurrently. Any response, also 401 or 404,
shows that DNS, connection and certificate work.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit

import httpx

from tasks.agents.kind import ApiAsk
from tasks.agents.kinds.http import HttpAsk
from tasks.agents.registry import load_agents
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.models import LlmJudgeEntry, load_judges
from tasks.configuration.secrets import KeySettings, read_address, read_variable
from tasks.configuration.wikipedia import load_wikipedia
from tasks.doctor.finding import Found
from tasks.editions.refresh import load_refresh
from tasks.judging.clients import DEFAULT_URLS
from tasks.warehouse.errors import first_line
from tasks.warehouse.store import Readable

GEMINI_URL = "https://generativelanguage.googleapis.com"
USED = """
SELECT DISTINCT judge FROM cells UNION SELECT DISTINCT judge FROM calls
UNION SELECT DISTINCT agent FROM jobs
"""
Relevance = Literal["required", "used", "unused"]
"""How much depends on a judge or an agent. `required`: the default judge, or scheduled in
configs/refresh.yaml. `used`: the warehouse holds some of its results."""
UNREACHABLE = (
    "Check the network, DNS, the firewall, and the address in configs/ or in the variable that "
    "replaces it; --offline skips these checks."
)
WRONG_TIME = (
    "Synchronize the system clock (timedatectl set-ntp true): schedules, time-outs and the times "
    "in the tables depend on it."
)
WIKI = "collecting editions"
ANSWER_SECONDS = 5.0
"""Time limit for connecting and for the start of the response, each."""
WHOLE_SECONDS = 12.0
MOST_SKEW_SECONDS = 5.0
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True)
class NamesInUse:
    """The names of the judges and agents that are required or were used."""

    required: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()

    def relevance_of(self, names: Iterable[str]) -> Relevance:
        """Return the highest relevance among some names."""
        given = set(names)
        if given & self.required:
            return "required"
        return "used" if given & self.used else "unused"


def find_names_in_use(source: Readable | None, configs: ConfigSource = CONFIGS) -> NamesInUse:
    """Find the names in the configuration and the warehouse (None: there is none), as far as
    these can be read."""
    required: set[str] = set()
    with suppress(ConfigurationError):  # check_configuration reports it
        required.add(load_judges(configs).default)
        settings = load_refresh(configs)
        if settings.schedule:
            required.update(settings.agents, filter(None, [settings.judge, settings.extractor]))
    used = source.frame(USED)["judge"].to_list() if source else []
    return NamesInUse(frozenset(required), frozenset(used))


class HttpService(NamedTuple):
    """A judge or an agent that is asked over HTTP."""

    name: str
    url: str
    is_moved: bool
    """Whether a variable sets the URL."""
    key_env: str | None
    """The variable with its key; null if there is none, or it needs no key."""
    key_block: str | None
    """Likewise the Prefect Secret block."""


def find_services(configs: ConfigSource = CONFIGS) -> Iterator[HttpService]:
    """Yield the judges and agents of the configuration that are asked over HTTP."""
    for name, judge in load_judges(configs).judges.items():
        if isinstance(judge, LlmJudgeEntry):
            default = DEFAULT_URLS.get(judge.kind, GEMINI_URL)
            yield _make_service(name, judge, judge.base_url or default, judge.base_url_env)
    for name, agent in load_agents(configs).agents.items():
        ask = agent.ask
        if isinstance(ask, ApiAsk):
            url = ask.base_url or ask.provider_url
            yield _make_service(name, ask, url, ask.base_url_env)
        elif isinstance(ask, HttpAsk):
            yield _make_service(name, ask, ask.url, ask.url_env)


def _make_service(name: str, entry: KeySettings, url: str, url_env: str | None) -> HttpService:
    moved = read_address(url_env)
    key = (entry.key_env, entry.key_block) if entry.key_required else (None, None)
    return HttpService(name, (moved or url).rstrip("/"), bool(moved), *key)


@dataclass(frozen=True)
class ProbeResult:
    """The response of one endpoint, or why there was none."""

    address: str
    """Scheme, host and port, without secrets."""
    status: int | None = None
    seconds: float = 0.0
    error: str | None = None
    skew_seconds: float | None = None
    """How far our clock is ahead of the endpoint's; null if it sends no date."""


def find_endpoints(names_in_use: NamesInUse) -> dict[str, list[str]]:
    """Map each URL to who uses it: the wiki, and the judges and agents that can be used here."""
    found: dict[str, list[str]] = {load_wikipedia().api_url: [WIKI]}
    for service in find_services():
        if service.key_env:
            is_usable = bool(read_variable(service.key_env))
        else:
            is_usable = service.is_moved or names_in_use.relevance_of([service.name]) != "unused"
        if is_usable:
            found.setdefault(service.url, []).append(service.name)
    return found


def check_endpoints(found: dict[str, list[str]]) -> Iterator[Found]:
    """Probe each endpoint; yield one finding for each, and one about the clock."""
    results = asyncio.run(_probe_all(found))
    for url, each in zip(found, results, strict=True):
        users = ", ".join(found[url][:3]) + ("…" if len(found[url]) > 3 else "")
        if each.error is None:
            text = f"answers (HTTP {each.status}, {each.seconds:.1f} s); used by {users}."
            yield Found("ok", text, check=each.address)
        else:
            text = f"cannot be reached: {each.error}; used by {users}."
            yield Found("fail", text, check=each.address)
    yield check_clock(results)._replace(check="clock", group="clock")


def check_clock(results: Iterable[ProbeResult]) -> Found:
    """Compare our clock with the nearest of theirs: one of them may be wrong, hardly all."""
    known = {each.address: each.skew_seconds for each in results if each.skew_seconds is not None}
    if not known:
        return Found("skipped", "no endpoint sent its time.")
    address, skew = min(known.items(), key=lambda item: abs(item[1]))
    if abs(skew) <= MOST_SKEW_SECONDS:
        return Found("ok", f"within {max(1, ceil(abs(skew)))} s of {address}.")
    where = "ahead of" if skew > 0 else "behind"
    return Found("warn", f"{abs(skew):,.0f} s {where} {address}.", WRONG_TIME)


def check_time_zone() -> Iterator[Found]:
    """Report the time zones of this machine and of the schedule."""
    schedule = load_refresh().schedule
    here = datetime.now().astimezone()
    text = f"local time is {here:%Y-%m-%d %H:%M} {here.tzname()} ({here:%z})"
    text += f"; the schedule is `{schedule.cron}` in {schedule.timezone}" if schedule else ""
    yield Found("ok", f"{text}.")


def printable_url(url: str) -> str:
    """Return scheme, host and port of a URL, which contain no secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{_format_host(parts)}"


async def probe(client: httpx.AsyncClient, url: str) -> ProbeResult:
    """Send a request and wait for the start of the response."""
    parts = urlsplit(url)
    # User, password and query may contain keys.
    bare = f"{parts.scheme}://{_format_host(parts)}{parts.path}"
    began, clock_began = time.monotonic(), time.time()
    try:
        async with asyncio.timeout(WHOLE_SECONDS), client.stream("GET", bare) as response:
            seconds = time.monotonic() - began
    except TimeoutError:
        return ProbeResult(printable_url(url), error=f"no answer within {WHOLE_SECONDS:.0f} s")
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        slow = isinstance(error, httpx.TimeoutException)
        reason = f"no answer within {ANSWER_SECONDS:.0f} s" if slow else first_line(error)
        return ProbeResult(printable_url(url), error=reason)
    skew = None
    if parts.hostname not in LOOPBACK:
        skew = _measure_skew(response.headers.get("date"), clock_began + seconds / 2)
    return ProbeResult(printable_url(url), response.status_code, seconds, skew_seconds=skew)


async def _probe_all(urls: Iterable[str]) -> list[ProbeResult]:
    async with httpx.AsyncClient(
        timeout=ANSWER_SECONDS,
        follow_redirects=False,
        trust_env=False,  # as our clients: no proxies, no .netrc
        headers={"User-Agent": "evergreen-bench doctor"},
    ) as client:
        return list(await asyncio.gather(*(probe(client, url) for url in urls)))


def _measure_skew(date: str | None, ours: float) -> float | None:
    """Return how many seconds we are ahead of a Date header, which has whole seconds."""
    try:
        theirs = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    aware = theirs if theirs.tzinfo else theirs.replace(tzinfo=UTC)
    return ours - (aware.timestamp() + 0.5)


def _format_host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if parts.port else host
