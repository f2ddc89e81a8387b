"""What holds of every figure of DeepResearchGym, whatever was decided."""

import random
from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.judges.decisions import JudgeAnswer
from tasks.protocols.case import ItemAnswer
from tasks.protocols.research_gym.figures import SUPPORT_WORTH
from tasks.warehouse.rows import Status
from tests.scripted_judge import ScriptedJudge
from tests.tasks.protocols.framed import framed, value_of
from tests.tasks.protocols.gym import PROTOCOL, A, case

LABELS = {
    "key_point": ("supported", "omitted", "contradicted"),
    "citation": ("full", "partial", "none"),
    "quality": tuple(str(score) for score in range(11)),
}
BEST = {"key_point": "supported", "citation": "full", "quality": "10"}
UNDECIDED = (Status.JUDGE_ERROR, Status.UNPARSABLE, Status.BLOCKED, Status.NOT_ASSESSED,
             Status.SKIPPED)  # fmt: skip
Figures = dict[str, tuple[float | None, int]]


def decided(step: str, n: int, label: str | None, status: Status = Status.OK) -> ItemAnswer:
    item = {"key_point": f"point:{n}", "citation": f"claim:{n}"}.get(step)
    item = item or ("clarity", "insight")[n % 2]
    return ItemAnswer(step=step, item=item, answer=JudgeAnswer(status=status, label=label))


@st.composite
def verdicts(draw: st.DrawFn) -> list[ItemAnswer]:
    """Of all steps, each item once, some without an answer."""
    found = []
    for step, labels in LABELS.items():
        most = 2 if step == "quality" else 6
        for n in range(draw(st.integers(0, most))):
            status = draw(st.sampled_from((Status.OK, Status.OK, Status.OK, *UNDECIDED)))
            label = draw(st.sampled_from(labels)) if status is Status.OK else None
            found.append(decided(step, n, label, status))
    return found


def figures(**reports: Sequence[ItemAnswer]) -> dict[str, Figures]:
    """Of several reports of one agent at once, by their names."""
    cases = [
        case(
            [d.item for d in said if d.step == "key_point"],
            [("a claim", [A]) for d in said if d.step == "citation"],
            assignment=name,
        )
        for name, said in reports.items()
    ]
    found: dict[str, Figures] = {name: {} for name in reports}
    frame = PROTOCOL.compute_figures(framed(reports, cases), ScriptedJudge())
    for row in frame.iter_rows(named=True):
        found[row["assignment"]][row["metric"]] = (value_of(row), row["n_items"])
    return found


@settings(max_examples=25, deadline=None)
@given(verdicts(), verdicts(), st.sampled_from(UNDECIDED), st.randoms(use_true_random=False))
def test_figures_are_shares_that_only_decided_items_make_in_any_order(
    said: list[ItemAnswer], other: list[ItemAnswer], status: Status, lot: random.Random
) -> None:
    shuffled = list(said)
    lot.shuffle(shuffled)
    more = [*said, decided("key_point", 99, None, status), decided("citation", 99, None, status)]
    better = _better(said, lot)
    found = figures(alone=said, other=other, shuffled=shuffled, more=more, better=better)
    assert found["alone"].keys() == {metric.name for metric in PROTOCOL.metrics}
    _check_range(said, found["alone"])
    assert found["shuffled"] == found["alone"]
    _check_same(said, found["alone"], found["more"])
    for metric, (value, _) in found["alone"].items():
        now, before = found["better"][metric][0] or 0.0, value or 0.0
        assert (now <= before + 1e-12) if metric.startswith("kpc") else (now >= before - 1e-12)


def _better(said: list[ItemAnswer], lot: random.Random) -> list[ItemAnswer]:
    """One decided item with the best label instead of its own."""
    able = [n for n, d in enumerate(said) if d.answer.status is Status.OK]
    if not able:
        return said
    place = lot.choice(able)
    one = said[place]
    answer = one.answer.model_copy(update={"label": BEST[one.step]})
    changed = ItemAnswer(step=one.step, item=one.item, answer=answer)
    return [*said[:place], changed, *said[place + 1 :]]


def _check_range(said: list[ItemAnswer], found: Figures) -> None:
    for metric, (value, n_items) in found.items():
        assert (value is None) == (n_items == 0), metric
        assert value is None or 0 <= value <= 1, metric
    n = Counter(d.step for d in said if d.answer.status is Status.OK)
    assert found["kpr"][1] == found["kpc"][1] == n["key_point"]
    assert found["citation_precision"][1] == n["citation"]
    assert (found["kpr"][0] or 0) + (found["kpc"][0] or 0) <= 1 + 1e-9


def _check_same(said: list[ItemAnswer], before: Figures, now: Figures) -> None:
    """An undecided item more changes no value, but those that are about there being any."""
    there = {d.step for d in said}
    about = {"citation_evaluated_share", "citation_recall", "citation_recall_own",
             "citation_recall_published"}  # fmt: skip
    if "citation" not in there:
        about.add("citation_precision_published")
    for metric in before.keys() - about:
        assert now[metric] == before[metric], metric


def test_support_is_worth_what_the_paper_says() -> None:
    assert SUPPORT_WORTH == {"full": 1.0, "partial": 0.5, "none": 0.0}
