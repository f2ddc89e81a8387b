"""All details of one decision, or of one citation, as (name, text) pairs."""

from collections.abc import Iterator
from shlex import quote

from tasks.base import format_count
from tasks.site.wording import format_moment, format_number
from tasks.warehouse.explanations import ExplainedCitation, ExplainedVerdict


def describe_decision(decision: ExplainedVerdict) -> Iterator[tuple[str, str]]:
    """Describe all fields of a verdict: its evidence, reason, model and call."""
    label = decision.label or decision.status
    mark = "" if decision.score is None else f" · score {format_number(decision.score, 3)}"
    yield "Decision", f"{decision.protocol} · {decision.step} · {decision.item} · {label}{mark}"
    if decision.status != "ok":
        yield "Status", decision.status
    yield "Evidence", decision.evidence or "none was quoted"
    yield "Reason", decision.reason or "none was given"
    if decision.shown_share is not None:
        yield "Shown", f"{decision.shown_share:.0%} of the text, as an excerpt"
    if decision.decided_by:
        yield "Asked", f"{decision.decided_by}, the fallback, since {decision.judge} refused"
    version = decision.model_version or "unknown"
    yield "Model", f"{version} · attempt {decision.attempt} · prompts {decision.prompt_sha}"
    if decision.call_id is None:
        yield "Call", "no model was called"
        return
    if decision.asked_together and decision.asked_together > 1:
        yield "Together", f"one of {decision.asked_together} items that the call decided"
    yield "Call", decision.call_id
    yield "Prompt and answer", f"evergreen calls --show {quote(decision.call_id[:16])}"


def describe_citation(edition: str, citation: ExplainedCitation) -> Iterator[tuple[str, str]]:
    """Describe a citation and the snapshot of its page."""
    page = citation.page
    yield "Page", citation.url
    marker = f"{citation.marker} · " if citation.marker else ""
    written = "" if citation.raw_url == citation.url else f" · written {citation.raw_url}"
    yield "Cited", f"{marker}{citation.kind}{written}"
    if page is None:
        yield "Snapshot", "never fetched: `evergreen fetch` asks for it once"
        return
    length = format_count(page.n_chars, "character") if page.n_chars is not None else "no text"
    known = [page.title and f"“{page.title}”", page.media_type, page.language, length]
    yield "Snapshot", " · ".join(filter(None, [page.status, *known]))
    if page.error:
        yield "Why not", page.error
    when = format_moment(page.fetched_at) if page.fetched_at else "its publisher does not say when"
    published = f" · published on {page.published_on}" if page.published_on else ""
    yield "Fetched", f"{page.source} · {when}{published}"
    if page.final_url:
        yield "Led to", page.final_url
    if page.text_sha:
        yield "Sha-256", page.text_sha
        yield "Its text", f"evergreen pages show {quote(citation.url)} --edition {quote(edition)}"
