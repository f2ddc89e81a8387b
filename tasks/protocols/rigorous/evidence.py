"""Rigorous Bench's evidence that needs no model: keyword counts, links, usage.

Each is stored as a verdict of its own step, so that every figure rests on stored evidence.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from tasks.extraction.citations import find_markers
from tasks.extraction.urls import normalise_url
from tasks.judges.decisions import JudgeAnswer
from tasks.metrics.integrated_score import (
    LinkCounts,
    count_substrings,
    count_whole_words,
    normalise_text,
)
from tasks.protocols.case import Case, ItemAnswer
from tasks.warehouse.rows import Status
from tasks.warehouse.rubrics import BundleSettings
from tasks.warehouse.traces import TRACE

FREQUENCY, OCCURRENCES = "frequency", "occurrences"
LINKS, TRUSTED, USAGE = "links", "trusted", "usage"
FOCUS, DEVIATION = "focus", "deviation"
TOKENS, SEARCHES, STEPS, OPENED = "output_tokens", "searches", "reasoning_steps", "opened_pages"
CITED_LIST = "Cited addresses:"
LINK_REASONS = {
    "trusted": "trusted pages",
    "exact": "trusted pages that the report cites",
    "on_host": "cited pages on the host of a trusted one, trusted ones included",
    "cited": "pages that the report cites",
}
"""Reasons stored with the counts of links."""
MISSING_USAGE = {
    TOKENS: "the agent does not say how many tokens the report took",
    SEARCHES: "the agent does not say how often it searched",
    STEPS: "the agent does not say in how many steps it reasoned",
    OPENED: "no search trace names a page that the agent opened",
}


def number_keywords(settings: BundleSettings) -> dict[str, str]:
    """Return item (e.g. `focus:1`) → keyword; focus keywords first, in the published order."""
    kinds = ((FOCUS, settings.focus_keywords), (DEVIATION, settings.deviation_keywords))
    return {f"{kind}:{n}": word for kind, words in kinds for n, word in enumerate(words, start=1)}


def build_graded_text(case: Case) -> str:
    """Return the text that rubrics are graded on: as published, if the report's text contains no
    address, the cited ones are listed below it."""
    text = case.report.text
    if any(marker.url for marker in find_markers(text)):
        return text
    cited = sorted({citation.raw_url for citation in case.citations})
    if not cited:
        return text
    return "\n".join((text.rstrip(), "", CITED_LIST, *(f"- {url}" for url in cited)))


def collect_evidence(case: Case, prose: str, settings: BundleSettings) -> Iterator[ItemAnswer]:
    """Yield every decision that needs no model.

    Args:
        prose: The report's text without apparatus, in which keywords are counted.
    """
    yield from _count_keywords(prose, settings)
    yield from _check_links(case, settings)
    yield from _record_usage(case)


def page_key(url: str) -> str | None:
    """Return the page of an address, without query and fragment; None if it is no address.

    The paper drops these two; here scheme, case of the host, `www` and trailing slashes are
    normalised too.
    """
    return normalise_url((normalise_url(url) or "").partition("?")[0])


def count_links(trusted: Sequence[str], cited: Sequence[str]) -> LinkCounts:
    """Count trusted pages, cited ones among them, and cited pages on their hosts."""
    trusted_pages, cited_pages = _page_keys(trusted), _page_keys(cited)
    hosts = {urlsplit(page).netloc for page in trusted_pages}
    return LinkCounts(
        trusted=len(trusted_pages),
        exact=len(trusted_pages & cited_pages),
        on_host=sum(urlsplit(page).netloc in hosts for page in cited_pages),
        cited=len(cited_pages),
    )


def _count_keywords(text: str, settings: BundleSettings) -> Iterator[ItemAnswer]:
    folded = normalise_text(text)
    for item, keyword in number_keywords(settings).items():
        found, inside = count_whole_words(keyword, folded), count_substrings(keyword, text)
        yield _count_answer(FREQUENCY, item, found, f"{keyword!r} stands there so often as a word")
        yield _count_answer(OCCURRENCES, item, inside, f"{keyword!r}, also inside of other words")


def _check_links(case: Case, settings: BundleSettings) -> Iterator[ItemAnswer]:
    in_text = [marker.url for marker in find_markers(case.report.text) if marker.url]
    cited = [*in_text, *(citation.raw_url for citation in case.citations)]
    found = count_links(settings.trusted_links, cited)
    for name, value in found._asdict().items():
        yield _count_answer(LINKS, name, value, LINK_REASONS[name])
    cited_pages = _page_keys(cited)
    for number, url in enumerate(settings.trusted_links, start=1):
        label = "cited" if page_key(url) in cited_pages else "not_cited"
        answer = JudgeAnswer(status=Status.OK, label=label, reason=url)
        yield ItemAnswer(step=TRUSTED, item=f"link:{number}", answer=answer)


def _record_usage(case: Case) -> Iterator[ItemAnswer]:
    usage = case.usage
    steps = TRACE.validate_json(case.trace.trace) if case.trace else ()
    opened = {normalise_url(url) or url for step in steps for url in step.opened}
    counts = {
        TOKENS: usage.output_tokens if usage else None,
        SEARCHES: usage.searches if usage else None,
        STEPS: usage.reasoning_steps if usage else None,
        OPENED: len(opened) or None,
    }
    for name, value in counts.items():
        if value is None:
            answer = JudgeAnswer(status=Status.NOT_ASSESSED, reason=MISSING_USAGE[name])
            yield ItemAnswer(step=USAGE, item=name, answer=answer)
        else:
            yield _count_answer(USAGE, name, value, "as the agent says")


def _page_keys(urls: Sequence[str]) -> set[str]:
    return {page for url in urls if (page := page_key(url))}


def _count_answer(step: str, item: str, value: int, reason: str) -> ItemAnswer:
    answer = JudgeAnswer(status=Status.OK, label=str(value), reason=reason)
    return ItemAnswer(step=step, item=item, answer=answer)
