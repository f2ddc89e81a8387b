"""Whether the outside answers: models, agents, the wiki; and what time it is there.

Each address is asked once, all at the same time, without any key. Whatever it answers, also 401 or
404, shows that names are resolved, connections come about and certificates hold.
"""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import import_module
from math import ceil
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import httpx

from tasks.agents.http import endpoint
from tasks.agents.kinds import MODULES
from tasks.configuration.agents import ApiAsk, HttpAsk, load_agents
from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import LlmJudgeEntry, load_judges
from tasks.configuration.refresh import load_refresh
from tasks.configuration.wikipedia import load_wikipedia
from tasks.doctor.configuration import needs_key
from tasks.doctor.finding import About, Finding
from tasks.doctor.relevance import InUse, Level
from tasks.judging.clients import OPENAI_URL
from tasks.warehouse.errors import first_line

ABOUT, CLOCK = About("endpoints"), About("clock")
UNREACHABLE = (
    "Look at the network, DNS, the firewall, and the address in configs/ or in the variable that "
    "replaces it; --offline leaves these checks out."
)
WRONG_TIME = (
    "Have the system's time kept (timedatectl set-ntp true): schedules, time-outs and the moments "
    "in the tables go by it."
)
GEMINI_URL = "https://generativelanguage.googleapis.com"
WIKI = "collecting editions"
ANSWER_SECONDS = 5.0
"""For each of: connecting, and the beginning of the answer."""
WHOLE_SECONDS = 12.0
MOST_SKEW_SECONDS = 5.0
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True)
class Reached:
    """What became of asking one address."""

    place: str
    """Scheme, host and port: what may be shown of it."""
    status: int | None = None
    seconds: float = 0.0
    error: str | None = None
    skew_seconds: float | None = None
    """How far our clock is ahead of its; null where it does not say."""


def endpoints(in_use: InUse, configs: Path = CONFIGS) -> dict[str, list[str]]:
    """By address, who is asked there: the wiki, and judges and agents that can be asked here."""
    found: dict[str, list[str]] = {load_wikipedia(configs).api_url: [WIKI]}
    for name, url, moved in _asked(configs):
        variable = needs_key(name, configs)
        keyed = bool(variable and os.environ.get(variable, "").strip())
        if keyed or (not variable and (moved or in_use.of([name]) is not Level.UNUSED)):
            found.setdefault(url, []).append(name)
    return found


def check_reach(found: dict[str, list[str]]) -> Iterator[Finding]:
    """Ask each address; one finding for each, and one about the clock."""
    reached = asyncio.run(_all(found))
    for url, each in zip(found, reached, strict=True):
        whose = ", ".join(found[url][:3]) + ("…" if len(found[url]) > 3 else "")
        if each.error is None:
            said = f"answers (HTTP {each.status}, {each.seconds:.1f} s); for {whose}."
            yield ABOUT.ok(each.place, said)
        else:
            said = f"cannot be reached: {each.error}; for {whose}."
            yield ABOUT.fail(each.place, said, UNREACHABLE)
    yield clock(reached)


def clock(reached: Iterable[Reached]) -> Finding:
    """Our clock beside the nearest of theirs: one of them may be wrong, hardly all."""
    known = {each.place: each.skew_seconds for each in reached if each.skew_seconds is not None}
    if not known:
        return CLOCK.skipped("clock", "nobody outside said what time it is.")
    place, skew = min(known.items(), key=lambda item: abs(item[1]))
    if abs(skew) <= MOST_SKEW_SECONDS:
        return CLOCK.ok("clock", f"within {max(1, ceil(abs(skew)))} s of {place}.")
    where = "ahead of" if skew > 0 else "behind"
    return CLOCK.warn("clock", f"{abs(skew):,.0f} s {where} {place}.", WRONG_TIME)


def time_zone(configs: Path = CONFIGS) -> Finding:
    """In which zones schedules and this machine count."""
    schedule = load_refresh(configs).schedule
    here = datetime.now().astimezone()
    said = f"here it is {here:%Y-%m-%d %H:%M} {here.tzname()} ({here:%z})"
    said += f"; the month begins at `{schedule.cron}` in {schedule.timezone}" if schedule else ""
    return CLOCK.ok("time zone", f"{said}.")


def shown(url: str) -> str:
    """Scheme, host and port of an address: nothing in it that may be secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{_place(parts)}"


async def probe(client: httpx.AsyncClient, url: str) -> Reached:
    """Ask an address for the beginning of an answer."""
    parts = urlsplit(url)
    # Without user, password and query: keys may stand there.
    bare = f"{parts.scheme}://{_place(parts)}{parts.path}"
    began, clock_began = time.monotonic(), time.time()
    try:
        async with asyncio.timeout(WHOLE_SECONDS), client.stream("GET", bare) as response:
            seconds = time.monotonic() - began
    except TimeoutError:
        return Reached(shown(url), error=f"no answer within {WHOLE_SECONDS:.0f} s")
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        slow = isinstance(error, httpx.TimeoutException)
        said = f"no answer within {ANSWER_SECONDS:.0f} s" if slow else first_line(error)
        return Reached(shown(url), error=said)
    skew = None
    if parts.hostname not in LOOPBACK:
        skew = _skew(response.headers.get("date"), clock_began + seconds / 2)
    return Reached(shown(url), response.status_code, seconds, skew_seconds=skew)


async def _all(urls: Iterable[str]) -> list[Reached]:
    async with httpx.AsyncClient(
        timeout=ANSWER_SECONDS,
        follow_redirects=False,
        trust_env=False,  # as our clients: no proxies, and nothing out of a .netrc
        headers={"User-Agent": "evergreen-bench doctor"},
    ) as client:
        return list(await asyncio.gather(*(probe(client, url) for url in urls)))


def _skew(date: str | None, ours: float) -> float | None:
    """Seconds that we are ahead of a Date header, which counts whole seconds."""
    try:
        theirs = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    aware = theirs if theirs.tzinfo else theirs.replace(tzinfo=UTC)
    return ours - (aware.timestamp() + 0.5)


def _asked(configs: Path) -> Iterator[tuple[str, str, bool]]:
    """(judge or agent, its address, whether a variable says so) of all that are asked by HTTP."""
    for name, judge in load_judges(configs).judges.items():
        if isinstance(judge, LlmJudgeEntry):
            own = GEMINI_URL if judge.kind == "gemini" else OPENAI_URL
            moved = os.environ.get(judge.base_url_env, "") if judge.base_url_env else ""
            yield name, moved or judge.base_url or own, bool(moved)
    for name, agent in load_agents(configs).agents.items():
        ask = agent.ask
        if isinstance(ask, ApiAsk):
            moved = os.environ.get(ask.base_url_env, "") if ask.base_url_env else ""
            yield name, endpoint(ask, _own_address(ask.kind)), bool(moved.strip())
        elif isinstance(ask, HttpAsk):
            moved = (os.environ.get(ask.url_env, "") if ask.url_env else "").strip()
            yield name, moved or ask.url, bool(moved)


def _own_address(kind: str) -> str:
    """Of the provider; Gemini's SDK, which knows its own, takes seconds to load."""
    if kind == "gemini_deep_research":
        return GEMINI_URL
    address: str = import_module(MODULES[kind]).BASE_URL
    return address


def _place(parts: SplitResult) -> str:
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if parts.port else host
