"""Check that `configs/` can be read, its keys are set, and its models have not ended."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from tasks.agents.endings import iterate_ends
from tasks.agents.registry import load_agents
from tasks.base import format_count
from tasks.configuration.criteria import (
    OWN_CRITERIA,
    load_criteria,
    load_weighted_criteria,
    load_words_to_watch,
)
from tasks.configuration.endings import SOON, load_endings
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import CONFIGS, ConfigSource, find_file, list_folders, walk_files
from tasks.configuration.inversion import load_drafting, load_inversion
from tasks.configuration.leaderboard import load_leaderboard_settings
from tasks.configuration.loading import load_merged, read_mapping
from tasks.configuration.models import load_judges, load_protocol
from tasks.configuration.rubrics import list_rubric_files, load_rubric
from tasks.configuration.sandbox import load_sandbox
from tasks.configuration.secrets import KeySettings, read_variable
from tasks.configuration.templates import StrictTemplate
from tasks.configuration.web import load_web
from tasks.configuration.wikipedia import Topics, load_wikipedia
from tasks.doctor.finding import Found, Status
from tasks.doctor.network import NamesInUse, Relevance, find_services
from tasks.editions.refresh import load_refresh
from tasks.models.prices import load_prices

ENDED = (
    "What it delivered stays, but nothing new comes from that day on. Finish its pending work, "
    "then name another (configs/judges.yaml, configs/agents.yaml, configs/refresh.yaml)."
)
MISSING_KEY: dict[Relevance, tuple[Status, str]] = {
    "required": ("fail", " (the default judge, or named in configs/refresh.yaml)"),
    "used": ("warn", " (this warehouse holds their results)"),
    "unused": ("skipped", ""),
}
"""The status of a missing key and its reason, by relevance."""
READERS: dict[str, Callable[[ConfigSource], Any]] = {
    "agents.yaml": load_agents,
    "drafting.yaml": load_drafting,
    "endings.yaml": load_endings,
    "inversion.yaml": load_inversion,
    "judges.yaml": load_judges,
    "leaderboard.yaml": load_leaderboard_settings,
    "prices.yaml": load_prices,
    "refresh.yaml": load_refresh,
    "sandbox.yaml": load_sandbox,
    "web.yaml": load_web,
    "wikipedia.yaml": load_wikipedia,
    "good_article_topics.yaml": partial(load_merged, "good_article_topics.yaml", Topics),
    "style/words_to_watch.yaml": lambda configs: load_words_to_watch(
        find_file("style/words_to_watch.yaml", configs)
    ),
    "criteria/race.yaml": partial(load_weighted_criteria, "criteria/race.yaml"),
    **{file: partial(load_criteria, file) for file in OWN_CRITERIA.values()},
}
"""The loader of each file, as the flows use it. All other YAML files must only parse."""


def check_configuration(configs: ConfigSource = CONFIGS) -> Iterator[Found]:
    """Check that every file loads as the flows load it."""
    files = walk_files([".yaml", ".md"], configs)
    reads: list[Callable[[], object]] = [
        partial(_read_file, file, file.relative_to(folder).as_posix(), configs)
        for folder, file in files
    ]
    reads += [partial(load_rubric, file) for file in list_rubric_files()]
    reads += [partial(find_file, name, configs) for name in READERS]
    errors: dict[str, None] = {}
    for read in reads:
        try:
            read()
        except ConfigurationError as error:
            errors[str(error)] = None
    for message in errors:
        yield Found("fail", message)
    if not errors:
        folders = ", ".join(map(str, list_folders(configs)))
        yield Found("ok", f"{format_count(len(files), 'file')} in {folders} can be read.")


def check_operator() -> Iterator[Found]:
    """Check that a contact for Wikimedia is configured."""
    settings = load_wikipedia()
    try:
        settings.get_operator()
    except ConfigurationError:
        text = "no contact for Wikimedia is set: nothing can be collected."
        advice = f"Set {settings.operator_env}, or `operator` in configs/wikipedia.yaml, to your "
        yield Found("warn", text, f"{advice}mail address or home page, in plain ASCII.")
    else:
        yield Found("ok", "is set.")


def check_keys(
    names_in_use: NamesInUse, blocks: Callable[[str], bool | None], configs: ConfigSource = CONFIGS
) -> Iterator[Found]:
    """Check for each key whether it is set, and report who needs it.

    blocks: tells whether the server has a Prefect Secret block of a name; None if unknown.
    """
    users: dict[tuple[str | None, str | None], list[str]] = defaultdict(list)
    for service in find_services(configs):
        if service.key_env or service.key_block:
            users[service.key_env, service.key_block].append(service.name)
    for (variable, block), names in sorted(users.items(), key=str):
        check = variable or f"block {block}"
        has_block = blocks(block) if block else False
        if read_variable(variable):
            yield Found("ok", f"is set; for {_join_names(names)}.", check=check)
        elif has_block:
            text = f"is in the Prefect block {block}; for {_join_names(names)}."
            yield Found("ok", text, check=check)
        elif has_block is None:
            text = f"is not set; no Prefect server could be asked for the block {block}."
            yield Found("warn", text, "Start the Prefect server, or set the variable.", check)
        else:
            status, why = MISSING_KEY[names_in_use.relevance_of(names)]
            text = f"is not set; needed by {_join_names(names)}{why}."
            how = KeySettings(key_env=variable, key_block=block).describe_setup()
            advice = (
                f"{how[0].upper()}{how[1:]} for every process that sends requests, workers too."
                if why
                else None
            )
            yield Found(status, text, advice, check)


def check_models(names_in_use: NamesInUse, today: date) -> Iterator[Found]:
    """Check whether the models of judges and agents have ended or will end soon."""
    status: Status = "ok"
    ending: list[str] = []
    for name, end in iterate_ends():
        if end.ends - today > SOON:
            continue
        has_ended = end.ends <= today
        relevance = names_in_use.relevance_of([name])
        if relevance == "unused" and has_ended:
            continue
        ending.append(end.describe(name, today))
        if relevance == "required" and has_ended:
            status = "fail"
        elif status != "fail":
            status = "warn"
    text = "; ".join(ending) if ending else f"none retires within {SOON.days} days"
    yield Found(status, f"{text}.")


def _read_file(file: Path, name: str, configs: ConfigSource) -> None:
    """name: the file's path in its folder."""
    kind = name.partition("/")[0]
    if name in READERS:
        READERS[name](configs)
    elif kind == "protocols":
        load_protocol(file.stem, configs)
    elif kind == "rubrics":
        load_rubric(file)
    elif file.suffix == ".yaml":
        read_mapping(file)
    elif kind == "prompts":
        StrictTemplate(file)


def _join_names(names: Collection[str], most: int = 4) -> str:
    first = list(names)[:most]
    rest = len(names) - len(first)
    return ", ".join(first) + (f" and {rest} more" if rest else "")
