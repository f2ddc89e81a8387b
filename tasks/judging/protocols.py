"""Choose the protocols that judge an edition."""

from collections.abc import Sequence

from tasks.protocols.registry import default_protocols, get_protocol, resolve_name
from tasks.warehouse.store import Readable


def choose_protocols(source: Readable, edition: str, given: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the given protocols, or the default ones for the edition's source.

    given: names, or files of own rubrics.

    Raises:
        ConfigurationError: such a file is invalid.
    """
    if given:
        return tuple(dict.fromkeys(map(resolve_name, given)))
    found = source.frame("SELECT source FROM editions WHERE edition = $1", [edition])["source"]
    return default_protocols(found[0] if len(found) else "")


def need_pages(protocols: Sequence[str]) -> bool:
    """Whether any of these protocols uses cited pages."""
    return any({"pages", "claim_pages"} & set(get_protocol(name).inputs) for name in protocols)


KINDS = {
    "write_article": "articles",
    "research": "answers to research queries",
    "find_claims": "answers to questions",
}
"""Descriptions of reports, by kind of assignment."""


def explain_idle(source: Readable, edition: str, name: str) -> str | None:
    """Return why a protocol can judge no report of an edition; None if it can, or if there are no
    reports yet."""
    kinds: list[str] = source.frame(
        "SELECT DISTINCT a.kind FROM reports JOIN assignments AS a USING (edition, assignment) "
        "WHERE edition = $1 ORDER BY a.kind",
        [edition],
    )["kind"].to_list()
    wanted = get_protocol(name)
    if not kinds:
        return None
    if not {*kinds} & {*wanted.kinds}:
        judged, present = (" and ".join(KINDS[k] for k in of) for of in (wanted.kinds, kinds))
        return f"it judges {judged}, but the edition has {present}"
    of_rubrics = "SELECT count(*) FROM rubric_bundles WHERE edition = $1 AND protocol = $2"
    if "rubric" in wanted.inputs and not source.frame(of_rubrics, [edition, name]).item():
        return "it needs a rubric, and the edition has none"
    of_articles = "SELECT count(*) FROM articles WHERE edition = $1"
    if "article" in wanted.inputs and not source.frame(of_articles, [edition]).item():
        return "it needs a reference article, and the edition has none"
    return None
