"""Judges that stand for the judge of a protocol's paper, since that one ends."""

from collections.abc import Collection, Iterator

from tasks.configuration.models import LlmJudgeEntry, get_judge_title, load_judges
from tasks.protocols.registry import get_protocol_title
from tasks.warehouse.store import Readable

NOT_MEASURED = "its agreement with that judge and with people is not measured"
ITEM = "edition, protocol, step, agent, assignment, item"
AGREEMENT = f"""
WITH ours AS (SELECT {ITEM}, label FROM current_verdicts
    WHERE judge = $1 AND protocol = $2 AND status = 'ok' AND decided_by IS NULL),
theirs AS (SELECT {ITEM}, label FROM current_verdicts
    WHERE judge = $3 AND protocol = $2 AND status = 'ok' AND decided_by IS NULL),
people AS (SELECT {ITEM}, l.label
    FROM human_labels AS l JOIN annotation_items AS i USING (sheet, item_id))
SELECT 'that judge' AS whom, count(*) AS n, avg((ours.label = theirs.label)::INT) AS alike
FROM ours JOIN theirs USING ({ITEM})
UNION ALL
SELECT 'people', count(*), avg((ours.label = people.label)::INT)
FROM ours JOIN people USING ({ITEM})
"""
"""How often a judge ($1) agrees with its predecessor ($3), and with people, in a protocol ($2)."""


def describe_stand_ins(source: Readable, judge: str, protocols: Collection[str]) -> str:
    """Say in which of these protocols a judge stands for the judge of the paper, and how far the
    warehouse shows the two, or it and people, to agree; empty if it stands for none."""
    return " ".join(_describe_each(source, judge, protocols))


def _describe_each(source: Readable, judge: str, protocols: Collection[str]) -> Iterator[str]:
    for name, entry in load_judges().judges.items():
        if not isinstance(entry, LlmJudgeEntry) or entry.successor != judge or not entry.retires:
            continue
        for protocol in sorted({*protocols} & {*entry.paper_judge_of}):
            rows = source.frame(AGREEMENT, [judge, protocol, name]).iter_rows()
            known = [f"with {whom} on {a:.0%} of {n:,} items" for whom, n, a in rows if n]
            agrees = f"it agrees {' and '.join(known)}" if known else NOT_MEASURED
            yield (
                f"In {get_protocol_title(protocol)} {get_judge_title(judge)} stands for "
                f"{entry.title}, which ends on {entry.retires}; {agrees}."
            )
