"""A report with all that was decided about it, in the terminal: marks by sign, word and colour,
the same as on its page. All texts are foreign: shown as they stand, never as markup or commands."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from flows.display.console import ANSWERS
from flows.display.decisions import decision_lines, page_lines
from tasks.analysis.explanation import (
    Decision,
    ExplainedCitation,
    ExplainedClaim,
    ExplainedFact,
    ExplainedReport,
    ReportScore,
)
from tasks.configuration.models import load_judges
from tasks.protocols.registry import at_hand
from tasks.site.harmless import visible
from tasks.site.wording import MARKS, Mark, decision_mark, dollars, figure, moment, number

COLOURS = {"good": "green", "bad": "red", "poor": "yellow", "open": "magenta", "none": "dim"}
HINT = (
    "One of them whole, with its page, prompt and answer: --claim N, --fact N. All of it: "
    "--format json."
)


def print_explained(report: ExplainedReport, *, whole: bool, brief: bool) -> None:
    """Print a report.

    Args:
        whole: its claims and facts with everything that is known of them.
        brief: other verdicts a line each, without their evidence.
    """
    _header(report)
    _scores(report.scores)
    if report.claims:
        _heading("Claims", _counted(report))
    for claim in report.claims:
        _claim(claim, report, whole)
    if report.facts and any(fact.decisions for fact in report.facts):
        _heading("Facts of the reference", _counts(_marks_of(report.facts)))
    for fact in report.facts:
        _fact(fact, whole)
    _others(report.others, brief)
    if not whole:
        _say(Text(HINT, style="dim"))


def _header(report: ExplainedReport) -> None:
    title = Text(visible(f"{report.title} · {report.agent_name} · {report.edition}"), style="bold")
    _say(title)
    known = [
        ("Report", f"{report.id} · {report.agent}/{report.assignment} · {report.status} · "
                   f"{len(report.text):,} characters · from {report.source_path}"),
        ("Article", report.url),
        ("Query", report.query),
        ("Made", _made(report)),
        ("Citations", None if report.pairs_reliable else f"cannot be told: {report.pairs_reason}"),
    ]  # fmt: skip
    _lines([(name, text) for name, text in [*known, *_judges(report)] if text])
    missing = {s.protocol for s in report.scores if s.n_open or s.state in ("pending", "failed")}
    if missing:
        _say(Text(f"Provisional: something of {', '.join(sorted(missing))} is still open "
                  "(--open shows it).", style="yellow"))  # fmt: skip
    if not report.scores:
        _say(Text("Nothing of it has been judged: `evergreen evaluate` does.", style="yellow"))


def _made(report: ExplainedReport) -> str:
    known = (
        report.model_version,
        None if report.usd is None else dollars(report.usd),
        None if report.seconds is None else f"{number(round(report.seconds))} seconds",
    )
    return (
        " · ".join(filter(None, known))
        or "nobody says by which version, what it cost, how long it took"
    )


def _judges(report: ExplainedReport) -> Iterator[tuple[str, str]]:
    """Each judge by its title, with the model versions that answered and how far it is."""
    titles = {name: entry.title for name, entry in load_judges().judges.items()}
    versions: dict[str, set[str]] = {}
    for decision in _decisions(report):
        if decision.model_version:
            versions.setdefault(decision.judge, set()).add(decision.model_version)
    states: dict[str, dict[str, str]] = {}
    for score in report.scores:
        states.setdefault(score.judge, {})[score.protocol] = score.state
    for judge, by_protocol in sorted(states.items()):
        told = ", ".join(f"{p} {s.replace('_', ' ')}" for p, s in sorted(by_protocol.items()))
        answered = ", ".join(sorted(versions.get(judge, ())))
        parts = (f"{judge} ({titles.get(judge, judge)})", told, answered)
        yield "Judge", " · ".join(filter(None, parts))


def _decisions(report: ExplainedReport) -> Iterator[Decision]:
    for claim in report.claims:
        yield from (*claim.conflicts, *claim.decisions)
        for citation in claim.citations:
            yield from citation.decisions
    for fact in report.facts:
        yield from fact.decisions
    yield from report.others


def _scores(scores: Sequence[ReportScore]) -> None:
    """Figures a line each; those without a value by the reason that they share."""
    if not scores:
        return
    entries = {(p.name, m.name): m for p in at_hand({s.protocol for s in scores}).values()
               for m in p.metrics}  # fmt: skip
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in ("Protocol", "Judge", "Metric"):
        table.add_column(name, overflow="fold")
    for name in ("Value", "Items", "Open"):
        table.add_column(name, justify="right")
    for score in scores:
        if score.value is not None:
            entry = entries.get((score.protocol, score.metric))
            value = figure(score.value, entry.unit if entry else "share")
            table.add_row(*_named(score, score.metric), value, *_counts_of(score))
    without: dict[tuple[str, ...], list[ReportScore]] = {}
    for score in scores:
        if score.value is None:
            of = (score.protocol, score.judge, score.state, score.reason or "")
            without.setdefault(of, []).append(score)
    for (*_, state, reason), same in without.items():
        metrics = ", ".join(score.metric for score in same)
        why = reason or state.replace("_", " ")
        table.add_row(*_named(same[0], f"{metrics}: {why}"), "–", *_counts_of(same[0]))
    ANSWERS.print(table)
    _say(Text("Shares in percent, over as many items as said.", style="dim"))


def _named(score: ReportScore, metric: str) -> Iterator[Text]:
    return (Text(visible(name)) for name in (score.protocol, score.judge, metric))


def _counts_of(score: ReportScore) -> tuple[str, str]:
    return f"{score.n_items:,}", f"{score.n_open:,}" if score.n_open else ""


def _counted(report: ExplainedReport) -> str:
    judges = sorted({judge for claim in report.claims for judge in claim.outcomes})
    told = {
        judge: _counts(MARKS[c.outcomes[judge]] for c in report.claims if judge in c.outcomes)
        for judge in judges
    }
    return "; ".join(f"{judge}: {counts}" if len(told) > 1 else counts
                     for judge, counts in told.items()) or "not judged"  # fmt: skip


def _marks_of(facts: Iterable[ExplainedFact]) -> Iterator[Mark]:
    return (_mark_of(decision) for fact in facts for decision in fact.decisions)


def _counts(marks: Iterable[Mark]) -> str:
    counted = Counter(f"{mark.sign} {mark.word}" for mark in marks)
    return ", ".join(f"{n:,} {name}" for name, n in counted.most_common())


def _claim(claim: ExplainedClaim, report: ExplainedReport, whole: bool) -> None:
    _item(claim.number, [(j, MARKS[o]) for j, o in sorted(claim.outcomes.items())], claim.text)
    if claim.leaked:
        _say(Text("cites the target article itself (leakage)", style="yellow"), 6)
    for citation in claim.citations:
        if whole:
            _lines(page_lines(report.edition, citation), 6)
            _whole(citation.decisions, 8)
        else:
            _citation(citation)
    for decision in (*claim.conflicts, *claim.decisions):
        if whole:
            _whole([decision], 6)
        elif decision not in claim.conflicts or decision.label == "inconsistent":
            _brief(decision, f"{decision.step}: ")


def _citation(citation: ExplainedCitation) -> None:
    page = citation.page
    fetched = f", fetched {moment(page.fetched_at)}" if page and page.fetched_at else ""
    said = f"page {page.status}{fetched}" if page else "page never fetched"
    line = Text.assemble((f"↳ {visible(said)} · ", "dim"), visible(citation.url))
    _say(line, 6, one_line=True)
    for decision in citation.decisions if page else ():
        _brief(decision)


def _fact(fact: ExplainedFact, whole: bool) -> None:
    _item(fact.number, [(d.judge, _mark_of(d)) for d in fact.decisions], fact.text)
    if whole:
        _whole(fact.decisions, 6)
    for decision in () if whole else fact.decisions:
        if decision.evidence and decision.label != "not_support":
            _say(Text(f"“{_flat(decision.evidence)}”", style="dim"), 8, one_line=True)


def _others(others: Iterable[Decision], brief: bool) -> None:
    for (protocol, step), group in groupby(others, key=lambda d: (d.protocol, d.step)):
        decisions = list(group)
        _heading(f"{protocol} · {step}", _counts(map(_mark_of, decisions)))
        for decision in decisions:
            if brief:
                _brief(decision, f"{decision.item} · ", 2)
            else:
                _whole([decision], 2)


def _item(of: int, marks: list[tuple[str, Mark]], text: str) -> None:
    line = Text()
    for judge, mark in marks:
        line.append_text(_marked(mark))
        line.append(f" ({judge})" if len(marks) > 1 else "", "dim")
        line.append("  ")
    line.append(visible(text))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", width=4)
    grid.add_row(str(of), line)
    ANSWERS.print(grid)


def _brief(decision: Decision, prefix: str = "", indent: int = 8) -> None:
    """Whose decision, its grounds in short, and where all of it is."""
    grounds = f"“{_flat(decision.evidence)}”" if decision.evidence else _flat(decision.reason or "")
    call = f"call {decision.call_id[:12]} · " if decision.call_id else ""
    line = Text.assemble(
        _marked(_mark_of(decision)), f" {visible(prefix)}", (f"{visible(call)}{grounds}", "dim")
    )
    _say(line, indent, one_line=True)


def _whole(decisions: Iterable[Decision], indent: int) -> None:
    for decision in decisions:
        _say(Text.assemble(_marked(_mark_of(decision)), f" said {decision.judge}"), indent)
        _lines(decision_lines(decision), indent + 2)


def _mark_of(decision: Decision) -> Mark:
    return decision_mark(decision.status, decision.label, decision.score, decision.step)


def _marked(mark: Mark) -> Text:
    return Text(visible(f"{mark.sign} {mark.word}"), style=COLOURS[mark.tone])


def _flat(text: str) -> str:
    return visible(" ".join(text.split()))


def _heading(title: str, counts: str) -> None:
    _say(Text.assemble("\n", (visible(title), "bold"), (f"  {visible(counts)}", "dim")))


def _lines(lines: Iterable[tuple[str, str]], indent: int = 0) -> None:
    """Names beside texts."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, text in lines:
        grid.add_row(Text(name, style="dim"), Text(visible(text), overflow="fold"))
    ANSWERS.print(Padding(grid, (0, 0, 0, indent), expand=False))


def _say(text: Text, indent: int = 0, *, one_line: bool = False) -> None:
    """One line cut to the width, or as many as the text takes."""
    if one_line:
        text.no_wrap, text.overflow = True, "ellipsis"
    ANSWERS.print(Padding(text, (0, 0, 0, indent), expand=False), highlight=False)
