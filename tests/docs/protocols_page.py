"""docs/reference/protocols.md, made from the protocols' files.

`python -m tests.docs.protocols_page > docs/reference/protocols.md` writes it anew.
"""

from collections.abc import Iterator

from tasks.configuration.models import MetricEntry, ProtocolEntry, load_protocol
from tasks.protocols.registry import PROTOCOLS, get_protocol
from tasks.scoring.board_notes import describe_missing
from tasks.warehouse.explanations import CITATION_STATES

WRITE = "python -m tests.docs.protocols_page > docs/reference/protocols.md"
INTRODUCTION = """# Protocols: what each figure is, and where it differs from its paper

This page is made from [configs/protocols](../../configs/protocols) by
`{write}`;
a test compares the two. `evergreen protocols NAME` prints the same.

- **Equation** is the paper's, or the published code's where it says so, in plain notation. A figure
  of an agent is the mean over its reports (macro), all items of its reports together (micro), or
  the mean of its categories' means.
- **Denominator** is what a report's value is a share or a mean of.
- **Missing report**: an agent's own empty answer or final refusal. The protocol's `missing` says
  what it counts (`zero` or `excluded`); the figure is published both ways. Where silence would win,
  as in conflicts and leakage, it has no value either way.
- **Failed items**: a verdict without a usable answer is open, never a score. This column says what
  becomes of the figure meanwhile, and of what can never be judged.
- **Refused items**: what a judge refuses is left out of the figure. Its bounds are the figure with
  the worst and with the best label of each step for these items (`bound_low` and `bound_high`).
- **Differences** lists every known one. Where a paper and its code define a figure differently,
  this column says which of the two it follows, and names the other figure where we publish both.
- **Judges**: published figures rest on their papers' models; configs/judges.yaml has those that
  are still offered, with the published settings. Any other judge gives other figures.

**Citation states.** A citation is a claim with one address that it cites. By each protocol and
judge it has one state, the first that holds of: {states}.
[How citations are read](citations.md#where-a-citation-stands) says what each means, and how the
figures count it.
"""
AGGREGATES = {"macro": "macro", "micro": "micro", "by_category": "by category"}


def render_page() -> str:
    """The page, as Markdown."""
    states = " · ".join(CITATION_STATES.values())
    parts = [INTRODUCTION.format(write=WRITE, states=states)]
    parts += ["\n".join(_describe(load_protocol(name))) for name in sorted(PROTOCOLS)]
    return "\n".join(parts)


def _describe(entry: ProtocolEntry) -> Iterator[str]:
    yield f"## {entry.title}\n"
    yield f"`{entry.name}`, version {entry.version}. Source: {entry.source}.\n"
    if entry.pairs:
        yield f"**Pairs of claim and URL:** {entry.pairs}\n"
    yield f"**Missing reports:** `missing: {entry.missing}`.\n"
    yield f"**Refused items, worst to best:** {get_protocol(entry.name).bounds.describe()}.\n"
    yield "| Metric | Equation | Denominator | Missing report | Failed items | Differences |"
    yield "|---|---|---|---|---|---|"
    for metric in entry.metrics:
        yield _describe_metric(metric, describe_missing(metric, entry.missing))
    yield ""


def _describe_metric(metric: MetricEntry, missing: str) -> str:
    better = f", {metric.direction}" if metric.direction else ""
    cells = (
        f"**{metric.title}**<br>`{metric.name}`<br>{AGGREGATES[metric.aggregate]}{better}",
        metric.equation,
        metric.denominator,
        missing,
        metric.undecided,
        "<br>".join(metric.differs) or "none known",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    print(render_page(), end="")
