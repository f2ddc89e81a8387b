"""What Rigorous Bench needs of a report that no model decides: counts, links, what it took.

Each is stored as a verdict of a step of its own, so that every figure rests on stored evidence.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from tasks.extraction.citations import find_markers
from tasks.extraction.urls import normalise_url
from tasks.judges.decisions import Answer
from tasks.metrics.drift import comparable, frequency, occurrences
from tasks.metrics.integrated import LinkCounts
from tasks.protocols.case import Case, Decided
from tasks.warehouse.rows import Status
from tasks.warehouse.rubrics import BundleSettings
from tasks.warehouse.traces import TRACE

FREQUENCY, OCCURRENCES, LINKS, TRUSTED, USAGE = (
    "frequency", "occurrences", "links", "trusted", "usage",
)  # fmt: skip
FOCUS, DEVIATION = "focus", "deviation"
TOKENS, SEARCHES, STEPS, OPENED = "output_tokens", "searches", "reasoning_steps", "opened_pages"
CITED_LIST = "Cited addresses:"
COUNTED = {
    "trusted": "trusted pages",
    "exact": "trusted pages that the report cites",
    "on_host": "cited pages on the host of a trusted one, trusted ones included",
    "cited": "pages that the report cites",
}
"""What each of the counts of links is."""
UNSAID = {
    TOKENS: "the agent does not say how many tokens the report took",
    SEARCHES: "the agent does not say how often it searched",
    STEPS: "the agent does not say in how many steps it reasoned",
    OPENED: "no search trace names a page that the agent opened",
}


def keyword_items(settings: BundleSettings) -> dict[str, str]:
    """Item → keyword, e.g. `focus:1`: focus keywords first, each kind as published."""
    kinds = ((FOCUS, settings.focus_keywords), (DEVIATION, settings.deviation_keywords))
    return {f"{kind}:{n}": word for kind, words in kinds for n, word in enumerate(words, start=1)}


def text_to_grade(case: Case) -> str:
    """The report as rubrics are graded on it; where its text holds no address, those it cites
    are listed below it, as published."""
    text = case.report.text
    if any(marker.url for marker in find_markers(text)):
        return text
    cited = sorted({citation.raw_url for citation in case.citations})
    if not cited:
        return text
    return "\n".join((text.rstrip(), "", CITED_LIST, *(f"- {url}" for url in cited)))


def evidence(case: Case, prose: str, settings: BundleSettings) -> Iterator[Decided]:
    """Every decision that needs no model.

    prose: the report's text without annotations, in which keywords are counted.
    """
    yield from _keywords(prose, settings)
    yield from _links(case, settings)
    yield from _usage(case)


def page_key(url: str) -> str | None:
    """The page that an address names, query and fragment left aside; None if it is no address.

    The paper drops these two; scheme, case of the host, `www` and trailing slashes are left aside
    here too.
    """
    return normalise_url((normalise_url(url) or "").partition("?")[0])


def link_counts(trusted: Sequence[str], cited: Sequence[str]) -> LinkCounts:
    """How many of the trusted pages are cited, and what else on their hosts."""
    wanted, there = _pages(trusted), _pages(cited)
    hosts = {urlsplit(page).netloc for page in wanted}
    return LinkCounts(
        trusted=len(wanted),
        exact=len(wanted & there),
        on_host=sum(urlsplit(page).netloc in hosts for page in there),
        cited=len(there),
    )


def _keywords(text: str, settings: BundleSettings) -> Iterator[Decided]:
    folded = comparable(text)
    for item, keyword in keyword_items(settings).items():
        found, inside = frequency(keyword, folded), occurrences(keyword, text)
        yield _count(FREQUENCY, item, found, f"{keyword!r} stands there so often as a word")
        yield _count(OCCURRENCES, item, inside, f"{keyword!r}, also inside of other words")


def _links(case: Case, settings: BundleSettings) -> Iterator[Decided]:
    cited = _cited(case)
    found = link_counts(settings.trusted_links, cited)
    for name, value in found._asdict().items():
        yield _count(LINKS, name, value, COUNTED[name])
    there = _pages(cited)
    for number, url in enumerate(settings.trusted_links, start=1):
        label = "cited" if page_key(url) in there else "not_cited"
        answer = Answer(status=Status.OK, label=label, reason=url)
        yield Decided(step=TRUSTED, item=f"link:{number}", answer=answer)


def _usage(case: Case) -> Iterator[Decided]:
    usage = case.usage
    said = {
        TOKENS: usage.output_tokens if usage else None,
        SEARCHES: usage.searches if usage else None,
        STEPS: usage.reasoning_steps if usage else None,
        OPENED: _opened(case),
    }
    for name, value in said.items():
        if value is None:
            answer = Answer(status=Status.NOT_ASSESSED, reason=UNSAID[name])
            yield Decided(step=USAGE, item=name, answer=answer)
        else:
            yield _count(USAGE, name, value, "as the agent says")


def _opened(case: Case) -> int | None:
    """Different pages that the agent says it opened."""
    steps = TRACE.validate_json(case.trace.trace) if case.trace else ()
    return len({normalise_url(url) or url for step in steps for url in step.opened}) or None


def _cited(case: Case) -> list[str]:
    """Addresses in the report's text, and those of its claims."""
    in_text = (marker.url for marker in find_markers(case.report.text) if marker.url)
    return [*in_text, *(citation.raw_url for citation in case.citations)]


def _pages(urls: Sequence[str]) -> set[str]:
    return {page for url in urls if (page := page_key(url))}


def _count(step: str, item: str, value: int, reason: str) -> Decided:
    return Decided(
        step=step, item=item, answer=Answer(status=Status.OK, label=str(value), reason=reason)
    )
