"""DeepResearch Bench II's figures counted by hand, and what no judgement may change."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.models import load_protocol
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.questions.grade_items import GradeItems
from tasks.protocols.case import Case, ItemAnswer
from tasks.protocols.rubric_bench import RubricBench, split_batches
from tasks.warehouse.rows import Status
from tasks.warehouse.rubrics import BlockedSource, BundleSettings, Rubric, make_rubric_bundle
from tests.servers.gemini import GeminiServer
from tests.tasks.judges.recording import at_server
from tests.tasks.models.scripted import MemoryLedger
from tests.tasks.models.test_attachments import kept
from tests.tasks.protocols.framed import Told, decided, failed, report, scored

BLOCKED = BlockedSource(title="The source", authors=("Wu",), urls=("https://blocked.org",))
DIMENSIONS = ("info_recall", "analysis", "presentation")
Figures = dict[str, tuple[float | None, int, int]]
"""By metric: numerator, items, open items."""


def bench(**parameters: Any) -> RubricBench:
    entry = load_protocol("rubric_bench")
    return RubricBench(entry.model_copy(update={"parameters": entry.parameters | parameters}))


def rubric(**texts: Sequence[str]) -> tuple[Rubric, ...]:
    """Items by dimension, as an import makes them."""
    named = [
        (dimension, f"{dimension}-{place}", text)
        for dimension in DIMENSIONS
        for place, text in enumerate(texts.get(dimension, ()), start=1)
    ]
    return tuple(
        Rubric(
            edition="e", assignment="x", protocol="rubric_bench", number=number, item=item,
            dimension=dimension, text=text, allowed='["1","0","-1"]', points=1,
        )
        for number, (dimension, item, text) in enumerate(named)
    )  # fmt: skip


def case(items: tuple[Rubric, ...], text: str = "A report.", **more: Any) -> Case:
    bundle = make_rubric_bundle(items, BundleSettings(language="en", blocked=BLOCKED), "published")
    return Case(report=report(text), query="Why?", rubric=items, bundle=bundle, **more)


def judge(labels: Mapping[str, str | None], evidence: Mapping[str, str] | None = None) -> Told:
    """Gives items these scores, with this evidence; those with none fail, `blocked` is refused."""

    def graded(request: GradeItems) -> list[JudgeAnswer]:
        return [
            JudgeAnswer(status=Status.BLOCKED)
            if (label := labels.get(item.id)) == "blocked"
            else JudgeAnswer(status=Status.OK, label=label, evidence=(evidence or {}).get(item.id))
            if label is not None
            else failed()
            for item in request.items
        ]

    return Told({GradeItems: graded})


def figures(of: Case, by: Told, protocol: RubricBench | None = None) -> Figures:
    rows = scored(protocol or bench(), of, by)
    return {m: (row["numerator"], row["n_items"], row["n_open"]) for m, row in rows.items()}


SEVEN = rubric(info_recall="abcd", analysis="ef", presentation="g")
SCORES = dict(zip((item.item for item in SEVEN), ("1", "1", "0", "-1", "1", "0", "0"), strict=True))


def test_figures_counted_by_hand_a_minus_one_is_a_failure_that_stays_in_the_denominator() -> None:
    """Recall 1 1 0 -1, analysis 1 0, presentation 0: three of seven, one of seven blocked."""
    assert figures(case(SEVEN), judge(SCORES)) == {
        "rubric_total": (3.0, 7, 0),
        "rubric_info_recall": (2.0, 4, 0),
        "rubric_analysis": (1.0, 2, 0),
        "rubric_presentation": (0.0, 1, 0),
        "rubric_blocked": (1.0, 7, 0),
        "rubric_total_compat": (3.0, 7, 0),
        "rubric_evaluated_share": (7.0, 7, 0),
        "rubric_evidence_not_found": (None, 0, 0),
        "rubric_cut": (0.0, 1, 0),
    }


TWICE = rubric(info_recall=("same", "other", "same"))
QUOTED = {"info_recall-1": "A report.", "info_recall-2": "Made up.", "analysis-1": "a REPORT"}
RECALLED = {item: score for item, score in SCORES.items() if item.startswith("info")}


@pytest.mark.parametrize(
    ("items", "by", "expected"),
    [
        pytest.param(
            TWICE, judge(dict(zip((i.item for i in TWICE), "110", strict=True))),
            {"rubric_total": (2, 3, 0), "rubric_total_compat": (1, 2, 0)},
            id="of two items of one text both count, in the published way the second alone",
        ),
        pytest.param(
            SEVEN, judge(SCORES | {SEVEN[1].item: "blocked"}),
            {"rubric_total": (2, 6, 0), "rubric_evaluated_share": (6, 7, 0)},
            id="what the judge refused is in no figure but the one that counts it",
        ),
        pytest.param(
            SEVEN, judge(RECALLED),
            {"rubric_info_recall": (2, 4, 0), "rubric_total": (2, 4, 3),
             "rubric_analysis": (None, 0, 2), "rubric_evidence_not_found": (None, 0, 3)},
            id="a batch that fails leaves its own items open",
        ),
        pytest.param(
            SEVEN, judge(SCORES, QUOTED),
            {"rubric_evidence_not_found": (1, 3, 0), "rubric_total": (3, 7, 0)},
            id="evidence that does not stand in the report is counted beside the score",
        ),
    ],
)  # fmt: skip
def test_what_is_odd_counts_where_it_should(
    items: tuple[Rubric, ...], by: Told, expected: Figures
) -> None:
    found = figures(case(items), by, bench(chunk_size=4))
    assert {metric: found[metric] for metric in expected} == expected


def test_items_of_all_dimensions_go_in_batches_in_order() -> None:
    many = rubric(info_recall=[str(n) for n in range(60)], analysis=[str(n) for n in range(45)])
    sizes = {50: [50, 50, 5], 0: [105], 200: [105]}
    for size, expected in sizes.items():
        by = judge(dict.fromkeys((item.item for item in many), "1"))
        found = decided(bench(chunk_size=size), case(many), by)
        assert [request.n_items for request in by.asked] == expected
        asked = [item.id for request in by.asked for item in request.items]
        assert asked == [item.item for item in many]
        assert [d.item for d in found if d.step in DIMENSIONS] == asked
        assert {request.blocked for request in by.asked} == {BLOCKED}


def test_the_first_batch_is_asked_alone_and_the_others_together() -> None:
    at_once: list[int] = []

    class Slow(Told):
        under_way = 0

        async def decide(self, request: Any) -> Sequence[JudgeAnswer]:
            self.under_way += 1
            await asyncio.sleep(0)
            at_once.append(self.under_way)
            await asyncio.sleep(0)
            self.under_way -= 1
            return await super().decide(request)

    decided(bench(chunk_size=2), case(SEVEN), Slow(judge(SCORES).says))
    assert at_once == [1, 3, 3, 3]


def test_told_apart_by_their_texts_two_of_one_text_are_never_in_one_batch() -> None:
    items = rubric(info_recall=("a", "b", "a", "c", "a"))
    texts = [[i.text for i in batch] for batch in split_batches(items, 3, apart=True)]
    assert texts == [["a", "b", "c"], ["a"], ["a"]]
    by = judge(dict.fromkeys((item.item for item in items), "1"))
    decided(bench(compat_echo=True), case(items), by)
    assert all(request.echo for request in by.asked)
    assert len(by.asked) == 3


def test_of_a_scan_the_evidence_cannot_be_looked_for_and_nothing_is_cut(tmp_path: Path) -> None:
    file = kept(tmp_path, b"%PDF-", n_pages=1)
    by = judge(SCORES, {"info_recall-1": "Seen there."})
    of = case(SEVEN, "").model_copy(update={"attachments": (file,)})
    found = figures(of, by)
    assert found["rubric_total"] == (3.0, 7, 0)
    assert found["rubric_evidence_not_found"] == found["rubric_cut"] == (None, 0, 0)
    [checked] = [d for d in decided(bench(), of, by) if d.step == "evidence"]
    assert checked.answer.status is Status.NOT_ASSESSED
    assert by.asked[0].attachments == (file,)


def test_what_is_cut_is_said_in_every_verdict_and_counted() -> None:
    text = "0123456789 and what nobody reads"
    by = judge(SCORES, {"info_recall-1": "what nobody reads"})
    found = decided(bench(max_chars=10), case(SEVEN, text), by)
    assert by.asked[0].report == "0123456789"
    grades = [d.answer for d in found if d.step in DIMENSIONS]
    assert {answer.shown_share for answer in grades} == {10 / len(text)}
    [shown] = [d.answer for d in found if d.step == "shown"]
    assert (shown.label, shown.reason) == ("cut", "10 of 32 characters")
    cut = figures(case(SEVEN, text), by, bench(max_chars=10))
    assert cut["rubric_cut"] == (1.0, 1, 0)
    assert cut["rubric_evidence_not_found"] == (1.0, 1, 0)
    whole = decided(bench(), case(SEVEN, text), by)
    assert {d.answer.shown_share for d in whole if d.step in DIMENSIONS} == {None}


class Crashed(Exception):
    """The process ends."""


def test_after_a_crash_only_the_batches_without_an_answer_are_bought() -> None:
    many = rubric(info_recall=[f"Says that {n} is prime." for n in range(7)])
    of, protocol, ledger = (
        case(many, "It says that 3 is prime."),
        bench(chunk_size=2),
        MemoryLedger(),
    )

    async def crashing(judge: LlmJudge) -> Any:
        class Ending:
            n = 0

            async def decide(self, request: Any) -> Any:
                self.n += 1
                if self.n > 1:
                    raise Crashed
                return await judge.decide(request)

        return await protocol.judge(of, Ending())  # type: ignore[arg-type]

    with suppress(Crashed):
        at_server(GeminiServer(), crashing, ledger)
    assert len(ledger.calls) == 1
    server = GeminiServer()
    found: list[ItemAnswer] = at_server(server, lambda judge: protocol.judge(of, judge), ledger)
    assert len(server.log.entries) == 3
    assert {d.answer.status for d in found} == {Status.OK}
    assert len({d.answer.call_id for d in found if d.step == "info_recall"}) == 4


LABELS = st.lists(st.sampled_from(["1", "0", "-1", None]), min_size=1, max_size=12)
SHARES = ("rubric_total", "rubric_info_recall", "rubric_analysis", "rubric_presentation",
          "rubric_blocked", "rubric_total_compat")  # fmt: skip


def of_labels(labels: Sequence[str | None]) -> tuple[Case, dict[str, str | None]]:
    """Items of all dimensions in turn, with these scores."""
    texts: dict[str, list[str]] = {dimension: [] for dimension in DIMENSIONS}
    said = {}
    for number, label in enumerate(labels):
        dimension = DIMENSIONS[number % 3]
        texts[dimension].append(f"Item {number}.")
        said[f"{dimension}-{len(texts[dimension])}"] = label
    return case(rubric(**texts)), said


def values(labels: Sequence[str | None]) -> dict[str, float | None]:
    of, said = of_labels(labels)
    found = figures(of, judge(said))
    return {m: None if found[m][0] is None else found[m][0] / found[m][1] for m in SHARES}  # type: ignore[operator]


@settings(deadline=None, max_examples=15)
@given(LABELS)
def test_every_figure_is_a_share_and_null_where_nothing_was_decided(
    labels: list[str | None],
) -> None:
    found = values(labels)
    for value in found.values():
        assert value is None or 0 <= value <= 1
    assert (found["rubric_total"] is None) == (set(labels) == {None})
    if found["rubric_total"] is not None and found["rubric_blocked"] is not None:
        assert found["rubric_total"] + found["rubric_blocked"] <= 1 + 1e-12


@settings(deadline=None, max_examples=15)
@given(LABELS, st.data())
def test_one_item_met_more_raises_no_other_and_lowers_none(
    labels: list[str | None], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(labels) - 1))
    if labels[place] is None:
        labels[place] = "0"
    before = values([*labels[:place], "0", *labels[place + 1 :]])
    after = values([*labels[:place], "1", *labels[place + 1 :]])
    own = {"rubric_total", "rubric_total_compat", f"rubric_{DIMENSIONS[place % 3]}"}
    for metric in SHARES:
        one, other = before[metric], after[metric]
        assert one == other if metric not in own else other > one  # type: ignore[operator]


@settings(deadline=None, max_examples=15)
@given(LABELS, st.data())
def test_an_item_that_nobody_judged_changes_no_figure(
    labels: list[str | None], data: st.DataObject
) -> None:
    of, said = of_labels(labels)
    fuller, said_more = of_labels([*labels, None])
    without, with_it = figures(of, judge(said)), figures(fuller, judge(said_more))
    for metric in SHARES:
        assert without[metric][:2] == with_it[metric][:2]
    assert with_it["rubric_total"][2] == without["rubric_total"][2] + 1


@settings(deadline=None, max_examples=15)
@given(LABELS, st.integers(0, 99))
def test_the_order_of_items_and_the_size_of_batches_change_no_figure(
    labels: list[str | None], seed: int
) -> None:
    of, said = of_labels(labels)
    shuffled = random.Random(seed).sample(of.rubric, len(of.rubric))
    other = of.model_copy(update={"rubric": tuple(shuffled)})
    assert figures(of, judge(said)) == figures(other, judge(said), bench(chunk_size=1 + seed % 5))
