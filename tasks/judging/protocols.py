"""Which protocols an edition is judged by."""

from collections.abc import Sequence

from tasks.protocols.registry import by_default, named, protocol
from tasks.warehouse.store import Readable


def protocols_for(source: Readable, edition: str, given: Sequence[str] = ()) -> tuple[str, ...]:
    """The protocols that were named, or those that judge an edition of its source.

    given: names, or files of one's own rubrics.

    Raises:
        ConfigurationError: such a file is wrong.
    """
    if given:
        return tuple(dict.fromkeys(map(named, given)))
    found = source.frame("SELECT source FROM editions WHERE edition = $1", [edition])["source"]
    return by_default(found[0] if len(found) else "")


def go_by_pages(protocols: Sequence[str]) -> bool:
    """Whether any of these protocols looks at the cited pages."""
    return any({"pages", "claim_pages"} & set(protocol(name).inputs) for name in protocols)


KINDS = {
    "write_article": "articles that were to be written",
    "research": "answers to research queries",
    "find_claims": "answers to questions",
}
"""What reports of an assignment's kind are."""


def why_idle(source: Readable, edition: str, name: str) -> str | None:
    """Why a protocol can judge no report of an edition; None if it can judge some, or there are
    none yet."""
    kinds: list[str] = source.frame(
        "SELECT DISTINCT a.kind FROM reports JOIN assignments AS a USING (edition, assignment) "
        "WHERE edition = $1 ORDER BY a.kind",
        [edition],
    )["kind"].to_list()
    wanted = protocol(name)
    if not kinds:
        return None
    if not {*kinds} & {*wanted.kinds}:
        asked, there = (" and ".join(KINDS[k] for k in of) for of in (wanted.kinds, kinds))
        return f"it judges {asked}, and these are {there}"
    of_rubrics = "SELECT count(*) FROM rubric_bundles WHERE edition = $1 AND protocol = $2"
    if "rubric" in wanted.inputs and not source.frame(of_rubrics, [edition, name]).item():
        return "it goes by a rubric, and none has come with the edition"
    of_articles = "SELECT count(*) FROM articles WHERE edition = $1"
    if "article" in wanted.inputs and not source.frame(of_articles, [edition]).item():
        return "it goes by a reference article, and none has come with the edition"
    return None
