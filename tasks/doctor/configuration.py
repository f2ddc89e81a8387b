"""Whether everything in `configs/` can be read, its keys are there, and its models still are."""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from tasks.configuration.agents import ApiAsk, HttpAsk, load_agents
from tasks.configuration.criteria import load_criteria
from tasks.configuration.drafting import load_drafting
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.inversion import load_inversion
from tasks.configuration.loading import CONFIGS, load, read_mapping
from tasks.configuration.models import (
    LlmJudgeEntry,
    load_editions,
    load_judges,
    load_protocol,
)
from tasks.configuration.refresh import load_refresh
from tasks.configuration.rubrics import listed_files, load_rubric
from tasks.configuration.sandbox import load_sandbox
from tasks.configuration.secrets import how_to_give
from tasks.configuration.templates import StrictTemplate
from tasks.configuration.topics import Topics
from tasks.configuration.web import load_web
from tasks.configuration.weighted_criteria import load_weighted_criteria
from tasks.configuration.wikipedia import load_wikipedia
from tasks.configuration.words import load_words_to_watch
from tasks.doctor.finding import About, Finding, Status
from tasks.doctor.relevance import InUse, Level
from tasks.models.prices import load_prices

ABOUT, KEYS = About("configuration"), About("keys")
SOON = timedelta(days=30)
RETIRED = (
    "Verdicts stay, but the judge makes no new ones from that day on. Finish what it has begun, "
    "then name another one (configs/judges.yaml, configs/refresh.yaml)."
)
MISSING: dict[Level, tuple[Status, str]] = {
    Level.REQUIRED: ("fail", ": the default judge, or what configs/refresh.yaml asks"),
    Level.USED: ("warn", ": this warehouse holds what they made"),
    Level.UNUSED: ("skipped", ""),
}
"""By how much depends on it, how bad a missing key is, and why."""
READERS: dict[str, Callable[[Path], Any]] = {
    "agents.yaml": load_agents,
    "drafting.yaml": load_drafting,
    "editions.yaml": load_editions,
    "inversion.yaml": load_inversion,
    "judges.yaml": load_judges,
    "prices.yaml": load_prices,
    "refresh.yaml": load_refresh,
    "sandbox.yaml": load_sandbox,
    "web.yaml": load_web,
    "wikipedia.yaml": load_wikipedia,
    "good_article_topics.yaml": lambda configs: load(configs / "good_article_topics.yaml", Topics),
    "style/words_to_watch.yaml": lambda configs: load_words_to_watch(
        configs / "style" / "words_to_watch.yaml"
    ),
    "criteria/race.yaml": lambda configs: load_weighted_criteria("criteria/race.yaml", configs),
    "criteria/wikipedia_good_article.yaml": lambda configs: load_criteria(
        "criteria/wikipedia_good_article.yaml", configs
    ),
}
"""By file, what reads it as the flows do. All other YAML must at least be YAML."""


def check_configuration(configs: Path = CONFIGS) -> Iterator[Finding]:
    """Every file, as the flows read it."""
    wrong, n_files = [], 0
    for file in sorted(path for path in configs.rglob("*") if path.suffix in (".yaml", ".md")):
        n_files += 1
        try:
            _read(file, configs)
        except ConfigurationError as error:
            wrong.append(str(error))
    for file in listed_files():
        n_files += 1
        try:
            load_rubric(file)
        except ConfigurationError as error:
            wrong.append(str(error))
    lost = [name for name in READERS if not (configs / name).exists()]
    wrong += [f"{configs / name}: there is no such file." for name in lost]
    for said in wrong:
        yield ABOUT.fail("files", said)
    if not wrong:
        yield ABOUT.ok("files", f"{n_files} files in {configs} can be read.")


def check_operator(configs: Path = CONFIGS) -> Iterator[Finding]:
    """Whether somebody is named whom Wikimedia can write to."""
    settings = load_wikipedia(configs)
    try:
        settings.named_operator()
    except ConfigurationError:
        said = "nobody is named whom Wikimedia could write to: nothing can be collected."
        advice = f"Set {settings.operator_env}, or `operator` in configs/wikipedia.yaml, to a mail "
        yield ABOUT.warn("operator", said, f"{advice}address or a page of yours, in plain ASCII.")
    else:
        yield ABOUT.ok("operator", "is named.")


def check_keys(
    in_use: InUse, blocks: Callable[[str], bool | None], configs: Path = CONFIGS
) -> Iterator[Finding]:
    """For each variable that holds keys whether it is set, and who needs it.

    blocks: whether the server has a Prefect Secret block of a name; None where nobody knows.
    """
    for (variable, block), users in _key_users(configs).items():
        level = in_use.of(users)
        name = variable or f"block {block}"
        there = blocks(block) if block else False
        if variable and os.environ.get(variable, "").strip():
            yield KEYS.ok(name, f"is set; for {_listed(users)}.")
        elif there:
            yield KEYS.ok(name, f"is in the Prefect block {block}; for {_listed(users)}.")
        elif there is None:
            said = f"is not set; whether there is a Prefect block {block} nobody could say."
            yield KEYS.warn(name, said, "Start the Prefect server, or set the variable.")
        else:
            status, why = MISSING[level]
            said = f"is not set; needed by {_listed(users)}{why}."
            advice = f"{_way(variable, block)}, workers too." if why else None
            yield KEYS.told(status, name, said, advice)


def check_models(in_use: InUse, today: date, configs: Path = CONFIGS) -> Iterator[Finding]:
    """Judges whose models have gone or will soon."""
    status: Status = "ok"
    said = []
    for name, entry in load_judges(configs).judges.items():
        retires = entry.retires if isinstance(entry, LlmJudgeEntry) else None
        if retires is None or retires - today > SOON:
            continue
        level = in_use.of([name])
        if level is Level.UNUSED and retires <= today:
            continue
        said.append(
            f"{name} was retired on {retires}"
            if retires <= today
            else f"{name} retires on {retires}, in {(retires - today).days} days"
        )
        if level is Level.REQUIRED and retires <= today:
            status = "fail"
        elif level is not Level.UNUSED and status != "fail":
            status = "warn"
    text = "; ".join(said) if said else f"none retires within {SOON.days} days"
    yield ABOUT.told(status, "models", f"{text}.", RETIRED)


def needs_key(name: str, configs: Path = CONFIGS) -> str | None:
    """The variable of a judge's or agent's key; None where it can be asked without one."""
    for (variable, _), users in _key_users(configs).items():
        if name in users:
            return variable
    return None


def _way(variable: str | None, block: str | None) -> str:
    how = how_to_give(variable, block)
    return f"{how[0].upper()}{how[1:]} for every process that asks"


def _read(file: Path, configs: Path) -> None:
    name = str(file.relative_to(configs))
    if name in READERS:
        READERS[name](configs)
    elif file.parent == configs / "protocols":
        load_protocol(file.stem, configs)
    elif file.parent == configs / "rubrics":
        load_rubric(file)
    elif file.suffix == ".yaml":
        read_mapping(file)
    elif configs / "prompts" in file.parents:
        StrictTemplate(file)


def _key_users(configs: Path) -> dict[tuple[str | None, str | None], list[str]]:
    """By variable and block, the judges and agents that cannot be asked without."""
    users: dict[tuple[str | None, str | None], list[str]] = defaultdict(list)
    for name, judge in load_judges(configs).judges.items():
        if isinstance(judge, LlmJudgeEntry) and judge.key_required:
            users[judge.key_env, judge.key_block].append(name)
    for name, agent in load_agents(configs).agents.items():
        if isinstance(agent.ask, ApiAsk | HttpAsk) and agent.ask.key_required:
            users[agent.ask.key_env, agent.ask.key_block].append(name)
    return {key: names for key, names in sorted(users.items(), key=str) if any(key)}


def _listed(names: Collection[str], most: int = 4) -> str:
    shown = list(names)[:most]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
