"""Print a report with all its verdicts, with the same marks as on its page. All texts are foreign:
they are printed verbatim, never as markup or control sequences."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from flows.display.console import STDOUT
from flows.display.decisions import describe_citation, describe_decision
from tasks.analysis.explanation import NOT_EXTRACTED
from tasks.base import format_count
from tasks.configuration.models import get_judge_title
from tasks.foreign_text import make_visible
from tasks.protocols.registry import available_protocols, get_protocol_title
from tasks.site.wording import (
    MARKS,
    OutcomeMark,
    choose_mark,
    format_dollars,
    format_figure,
    format_moment,
    format_number,
    format_refused,
)
from tasks.warehouse.explanations import (
    ExplainedCitation,
    ExplainedClaim,
    ExplainedFact,
    ExplainedReport,
    ExplainedVerdict,
    ReportScore,
)

COLOURS = {"good": "green", "bad": "red", "poor": "yellow", "open": "magenta", "none": "dim"}
LONGEST_GROUNDS = 300
"""Characters of evidence or of a reason that a list of verdicts shows of each."""
HINT = (
    "One of them in full, with its page, prompt and answer: --claim N, --fact N. The whole report: "
    "--format json."
)


def print_report(report: ExplainedReport, *, whole: bool, brief: bool) -> None:
    """Print a report.

    Args:
        whole: print claims and facts with all details, and no scores.
        brief: print other verdicts on a line each, without their evidence.
    """
    _print_header(report)
    if not whole:
        _print_scores(report.scores)
    if report.claims:
        _print_heading("Claims", _summarize_outcomes(report))
    for claim in report.claims:
        print_claim(claim, report, whole)
    if report.facts and any(fact.decisions for fact in report.facts):
        found = _count_marks(_mark_of(d) for fact in report.facts for d in fact.decisions)
        by_all = _count_marks(_mark_of(d) for fact in report.facts for d in fact.by_all_claims)
        summary = f"{found}; by all claims: {by_all}" if by_all else found
        _print_heading("Facts of the reference", summary)
    for fact in report.facts:
        _print_fact(fact, whole)
    _print_other_decisions(report.others, brief)
    if not whole:
        _print_line(Text(HINT, style="dim"))


def _print_header(report: ExplainedReport) -> None:
    title = Text(
        make_visible(f"{report.title} · {report.agent_name} · {report.edition}"), style="bold"
    )
    _print_line(title)
    state = "unknown" if report.pairs_reason == NOT_EXTRACTED else "unreliable"
    known = [
        ("Report", f"{report.id} · {report.agent}/{report.assignment} · {report.status} · "
                   f"{format_count(len(report.text), 'character')} · from {report.source_path}"),
        ("Article", report.url),
        ("Query", report.query),
        ("Made", _describe_origin(report)),
        ("Doubtful", report.doubtful_end),
        ("Extracted", report.empty_lists),
        ("Citations", None if report.pairs_reliable else f"{state}: {report.pairs_reason}"),
        ("Read", report.understood),
    ]  # fmt: skip
    _print_fields([(name, text) for name, text in [*known, *_describe_judges(report)] if text])
    missing = {s.protocol for s in report.scores if s.n_open or s.state in ("pending", "failed")}
    if missing:
        _print_line(Text(f"Provisional: items of {', '.join(sorted(missing))} are still open "
                  "(--open shows it).", style="yellow"))  # fmt: skip
    if not report.scores:
        _print_line(Text("Not judged yet: run `evergreen evaluate`.", style="yellow"))


def _describe_origin(report: ExplainedReport) -> str:
    known = (
        report.model_version,
        None if report.usd is None else format_dollars(report.usd),
        None if report.seconds is None else f"{format_number(round(report.seconds))} seconds",
    )
    return " · ".join(filter(None, known)) or "version, cost and duration unknown"


def _describe_judges(report: ExplainedReport) -> Iterator[tuple[str, str]]:
    """Describe each judge: its title, its states by protocol, the model versions that answered."""
    versions: dict[str, set[str]] = {}
    for decision in _iterate_decisions(report):
        if decision.model_version:
            versions.setdefault(decision.judge, set()).add(decision.model_version)
    states: dict[str, dict[str, str]] = {}
    for score in report.scores:
        states.setdefault(score.judge, {})[score.protocol] = score.state
    for judge, by_protocol in sorted(states.items()):
        progress = ", ".join(f"{p} {s.replace('_', ' ')}" for p, s in sorted(by_protocol.items()))
        answered = ", ".join(sorted(versions.get(judge, ())))
        parts = (f"{judge} ({get_judge_title(judge)})", progress, answered)
        yield "Judge", " · ".join(filter(None, parts))


def _iterate_decisions(report: ExplainedReport) -> Iterator[ExplainedVerdict]:
    for claim in report.claims:
        yield from (*claim.conflicts, *claim.decisions)
        for citation in claim.citations:
            yield from citation.decisions
    for fact in report.facts:
        yield from (*fact.decisions, *fact.by_all_claims)
    yield from report.others


def _print_scores(scores: Sequence[ReportScore]) -> None:
    """Print a line per score; scores without a value share a line per reason."""
    if not scores:
        return
    protocols = available_protocols({s.protocol for s in scores})
    entries = {(p.name, m.name): m for p in protocols.values() for m in p.metrics}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in ("Protocol", "Judge", "Metric"):
        table.add_column(name, overflow="fold")
    for name in ("Value", "Items", "Open"):
        table.add_column(name, justify="right")
    for score in scores:
        if score.value is not None:
            entry = entries.get((score.protocol, score.metric))
            name, unit = (entry.title, entry.unit) if entry else (score.metric, "share")
            name += format_refused(score, unit)
            value = format_figure(score.value, unit)
            table.add_row(*_name_cells(score, name), value, *_count_cells(score))
    without: dict[tuple[str, ...], list[ReportScore]] = {}
    for score in scores:
        if score.value is None:
            of = (score.protocol, score.judge, score.state, score.reason or "")
            without.setdefault(of, []).append(score)
    for (*_, state, reason), same in without.items():
        named = (entries.get((score.protocol, score.metric)) for score in same)
        metrics = ", ".join(
            entry.title if entry else score.metric for entry, score in zip(named, same, strict=True)
        )
        why = reason or state.replace("_", " ")
        table.add_row(*_name_cells(same[0], f"{metrics}: {why}"), "–", *_count_cells(same[0]))
    STDOUT.print(table)
    _print_line(Text("Shares in percent, over the number of items given.", style="dim"))


def _name_cells(score: ReportScore, metric: str) -> Iterator[Text]:
    protocol = get_protocol_title(score.protocol)
    return (Text(make_visible(name)) for name in (protocol, score.judge, metric))


def _count_cells(score: ReportScore) -> tuple[str, str]:
    return f"{score.n_items:,}", f"{score.n_open:,}" if score.n_open else ""


def _summarize_outcomes(report: ExplainedReport) -> str:
    judges = sorted({judge for claim in report.claims for judge in claim.outcomes})
    by_judge = {
        judge: _count_marks(MARKS[c.outcomes[judge]] for c in report.claims if judge in c.outcomes)
        for judge in judges
    }
    return "; ".join(f"{judge}: {counts}" if len(by_judge) > 1 else counts
                     for judge, counts in by_judge.items()) or "not judged"  # fmt: skip


def _count_marks(marks: Iterable[OutcomeMark]) -> str:
    counted = Counter(f"{mark.sign} {mark.word}" for mark in marks)
    return ", ".join(f"{n:,} {name}" for name, n in counted.most_common())


def print_claim(claim: ExplainedClaim, report: ExplainedReport, whole: bool) -> None:
    """Print a claim with its citations and verdicts. whole: with all details."""
    marks = [(judge, MARKS[outcome]) for judge, outcome in sorted(claim.outcomes.items())]
    _print_item(claim.number, marks, claim.text)
    if claim.leaked:
        _print_line(Text("cites the target article itself (leakage)", style="yellow"), 6)
    for citation in claim.citations:
        if whole:
            _print_fields(describe_citation(report.edition, citation), 6)
            _print_full_decisions(citation.decisions, 8)
        else:
            _print_citation(citation)
    for decision in (*claim.conflicts, *claim.decisions):
        if whole:
            _print_full_decisions([decision], 6)
        elif decision not in claim.conflicts or decision.label == "inconsistent":
            _print_short_decision(decision, f"{decision.step}: ")


def _print_citation(citation: ExplainedCitation) -> None:
    page = citation.page
    fetched = f", fetched {format_moment(page.fetched_at)}" if page and page.fetched_at else ""
    status = f"page {page.described_status}{fetched}" if page else "page never fetched"
    line = Text.assemble((f"↳ {make_visible(status)} · ", "dim"), make_visible(citation.url))
    _print_line(line, 6, one_line=True)
    for decision in citation.decisions if page else ():
        _print_short_decision(decision)


def _print_fact(fact: ExplainedFact, whole: bool) -> None:
    _print_item(fact.number, [(d.judge, _mark_of(d)) for d in fact.decisions], fact.text)
    if whole:
        _print_full_decisions((*fact.decisions, *fact.by_all_claims), 6)
        return
    for decision in fact.decisions:
        if decision.evidence and decision.label != "not_support":
            _print_line(Text(f"“{_shorten(decision.evidence)}”", style="dim"), 8)
    told = {(decision.judge, decision.label) for decision in fact.decisions}
    for decision in fact.by_all_claims:
        if (decision.judge, decision.label) not in told:
            _print_short_decision(decision, "by all claims: ")


def _print_other_decisions(others: Iterable[ExplainedVerdict], brief: bool) -> None:
    for (protocol, step), group in groupby(others, key=lambda d: (d.protocol, d.step)):
        decisions = list(group)
        _print_heading(f"{protocol} · {step}", _count_marks(map(_mark_of, decisions)))
        for decision in decisions:
            if brief:
                _print_short_decision(decision, f"{decision.item} · ", 2)
            else:
                _print_full_decisions([decision], 2)


def _print_item(of: int, marks: list[tuple[str, OutcomeMark]], text: str) -> None:
    line = Text()
    for judge, mark in marks:
        line.append_text(_format_mark(mark))
        line.append(f" ({judge})" if len(marks) > 1 else "", "dim")
        line.append("  ")
    line.append(make_visible(text))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", width=4)
    grid.add_row(str(of), line)
    STDOUT.print(grid)


def _print_short_decision(decision: ExplainedVerdict, prefix: str = "", indent: int = 8) -> None:
    """Print a decision: mark, call, and the beginning of its evidence or reason."""
    grounds = (
        f"“{_shorten(decision.evidence)}”" if decision.evidence else _shorten(decision.reason or "")
    )
    call = f"call {decision.call_id[:12]} · " if decision.call_id else ""
    line = Text.assemble(
        _format_mark(_mark_of(decision)),
        f" {make_visible(prefix)}",
        (f"{make_visible(call)}{grounds}", "dim"),
    )
    _print_line(line, indent)


def _print_full_decisions(decisions: Iterable[ExplainedVerdict], indent: int) -> None:
    for decision in decisions:
        mark = _format_mark(_mark_of(decision))
        _print_line(Text.assemble(f"{make_visible(decision.judge)}: ", mark), indent)
        _print_fields(describe_decision(decision), indent + 2)


def _mark_of(decision: ExplainedVerdict) -> OutcomeMark:
    return choose_mark(decision.status, decision.label, decision.score, decision.step)


def _format_mark(mark: OutcomeMark) -> Text:
    return Text(make_visible(f"{mark.sign} {mark.word}"), style=COLOURS[mark.tone])


def _shorten(text: str) -> str:
    """Return a text on one line, cut if it is long."""
    line = make_visible(" ".join(text.split()))
    return line if len(line) <= LONGEST_GROUNDS else f"{line[: LONGEST_GROUNDS - 1]}…"


def _print_heading(title: str, counts: str) -> None:
    heading = (make_visible(title), "bold")
    _print_line(Text.assemble("\n", heading, (f"  {make_visible(counts)}", "dim")))


def _print_fields(lines: Iterable[tuple[str, str]], indent: int = 0) -> None:
    """Print (name, text) pairs as two columns."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, text in lines:
        grid.add_row(Text(name, style="dim"), Text(make_visible(text), overflow="fold"))
    STDOUT.print(Padding(grid, (0, 0, 0, indent), expand=False))


def _print_line(text: Text, indent: int = 0, *, one_line: bool = False) -> None:
    """Print a text; `one_line` cuts it to the console's width."""
    if one_line:
        text.no_wrap, text.overflow = True, "ellipsis"
    STDOUT.print(Padding(text, (0, 0, 0, indent), expand=False), highlight=False)
