"""The hostile edition, judged and published, and the rules that each of its pages keeps."""

from pathlib import Path
from typing import Any, Literal

from tasks.imports.wlc import import_edition
from tasks.publishing.site import build_site
from tasks.site.environment import safe_url
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.store import open_warehouse
from tests.flows.llm_runs import evaluate
from tests.flows.plain_prefect import plain_prefect
from tests.rigs.hostile_edition import AGENTS, EDITION, TITLES, poison, write_edition

FOREIGN = {"iframe", "object", "embed", "img", "base", "form", "video", "audio", "portal",
           "template", "textarea", "foreignobject", "image", "use"}  # fmt: skip
"""Elements that no page has, in lower case."""
OF_FILTERS = "form"
"""The one of them that the leaderboard may have."""
OWN_IDS = {"main", "theme", "filters", "said", "scores", "claims-in-text", "claims", "claim-list",
           "facts", "f-protocol", "f-judge", "f-category", "f-window"}  # fmt: skip
OWN_PREFIXES = ("claim-", "fact-", "board-", "protocol-", "clip", "gradient_")
UNSEEN = (
    r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]"
)
"""Characters that act without being seen."""


def make(folder: Path) -> Path:
    """A warehouse with the edition, judged offline and then poisoned."""
    path = folder / "w.duckdb"
    with open_warehouse(path) as opened:
        summary = import_edition(opened, write_edition(folder / "files"), EDITION)
    assert (summary.reports, summary.unreadable) == (len(AGENTS) * len(TITLES), 0)
    with plain_prefect():
        state = evaluate(path, "offline", edition=EDITION)
    assert state.name == "Completed", state.message
    with open_warehouse(path) as opened:
        poison(opened)
    return path


def publish(warehouse: Path, site: Path, snapshots: Literal["passages", "whole"]) -> Path:
    """Publish it; the names of its pages are those of `pages_of`."""
    with open_for_reading(warehouse) as source:
        build_site(source, EDITION, site, snapshots=snapshots)
    assert len(pages_of(site)) > len(AGENTS) * len(TITLES)
    return site


def pages_of(site: Path) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def broken_rules(found: dict[str, Any], path: str) -> list[str]:
    """What a page has that it should not: found are its links, attributes, elements and ids."""
    foreign = FOREIGN - {OF_FILTERS} if path == "index.html" else FOREIGN
    problems = [f"attribute {name}" for name in found["attributes"]
                if name.startswith("on") or name in ("style", "srcdoc")]  # fmt: skip
    problems += [f"element {name}" for name in found["elements"] if name.lower() in foreign]
    problems += [f"link {link}"[:200] for link in found["links"] if not _is_harmless(link)]
    problems += [f"id {name}" for name in found["ids"]
                 if name not in OWN_IDS and not name.startswith(OWN_PREFIXES)
                 and path != "analyses.html"]  # fmt: skip
    if found["inline"]:
        problems.append(f"{found['inline']} inline scripts or styles")
    if found["unseen"]:
        problems.append(f"characters that act unseen: {found['unseen'][:5]}")
    if len(set(found["ids"])) < len(found["ids"]):
        problems.append("an id stands twice")
    return problems


def _is_harmless(link: dict[str, str | None]) -> bool:
    href = link["href"] or ""
    if ":" not in href.split("/")[0] and not href.startswith("//"):
        return link["protocol"] == "file:" and link["rel"] is None
    return safe_url(href) is not None and link["rel"] == "noopener nofollow ugc"
