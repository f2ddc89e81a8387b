"""Whatever a judge refused, the figure it would have given lies within the bounds."""

from collections.abc import Sequence
from itertools import product
from typing import Any, cast

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.models import load_protocol
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.questions.grade_items import GradeItems
from tasks.judges.questions.rate_keywords import RateKeywords
from tasks.metrics.ratios import aggregate
from tasks.protocols.case import OPTIONAL, Case, ItemAnswer, JudgedReports, Protocol
from tasks.protocols.registry import PROTOCOLS, get_protocol
from tasks.protocols.rigorous.evidence import collect_evidence
from tasks.protocols.wiki_writing import METRIC_BY_CATEGORY
from tasks.scoring.bounds import FigureBounds, aggregate_bounds, compute_bounds
from tasks.warehouse.rows import Status
from tasks.warehouse.rubrics import BundleSettings
from tests.scripted_judge import ScriptedJudge
from tests.tasks import rigorous_cases
from tests.tasks.protocols import test_own_rubric
from tests.tasks.protocols.framed import citing, failed, framed, ok, report, values
from tests.tasks.protocols.test_every_protocol import changed

Item = tuple[str, str, tuple[str, ...]]
"""Step, item and the labels that it may get."""
PAGES = {"https://a.org/": "A page.", "https://b.org/": "Another."}
CITED = [(f"Claim {n}.", list(PAGES)[: 1 + n % 2]) for n in range(4)]
PAIRS = [f"claim:{n} {url}" for n, (_, urls) in enumerate(CITED) for url in urls]
FACTS = [f"fact:{n}" for n in range(3)]
VERIFIED = ("consistent", "inconsistent", "not_support")


class Judge(ScriptedJudge):
    """Decides everything."""

    decides = ScriptedJudge.decides | {GradeItems, RateKeywords}


JUDGE: Any = Judge()


def items(step: str, names: Sequence[str], *labels: str) -> list[Item]:
    return [(step, name, labels) for name in names]


def writing_items(protocol: Any, *suffixes: str) -> list[Item]:
    return [
        (category.id, criterion.id + suffix, ("report", "reference"))
        for category in protocol.criteria.categories
        for criterion in category.all_criteria[:4]
        for suffix in suffixes or ("",)
    ]


WRITING, BOTH = get_protocol("wiki_writing"), changed("wiki_writing", {"order_policy": "both"})
RIGOROUS = rigorous_cases.case()
WORLDS: dict[str, tuple[Protocol, Case, list[Item]]] = {
    "wiki_fact": (
        get_protocol("wiki_fact"),
        citing(CITED, PAGES),
        items("coverage", FACTS, *VERIFIED)
        + items("coverage_all", FACTS, *VERIFIED)
        + items("conflict", [f"claim:{n}" for n in range(4)], *VERIFIED)
        + items("citation", PAIRS, "support", "not_support", "conflict"),
    ),
    "wiki_writing": (WRITING, Case(report=report()), writing_items(WRITING)),
    "both orders": (BOTH, Case(report=report()), writing_items(BOTH, "", " report_first")),
    "fact": (
        get_protocol("fact"),
        citing(CITED, PAGES),
        items("citation", PAIRS, "supported", "unsupported", "unknown"),
    ),
    "research_gym": (
        get_protocol("research_gym"),
        citing(CITED, PAGES),
        items("given", ["key_points", "urls"], "there")
        + items("key_point", ["point:0", "point:1"], "supported", "omitted", "contradicted")
        + items("citation", [f"claim:{n}" for n in range(4)], "full", "partial", "none")
        + items("quality", ["clarity", "insight"], *map(str, range(11))),
    ),
    "rubric_bench": (
        get_protocol("rubric_bench"),
        Case(report=report()),
        [
            item
            for step in ("info_recall", "analysis", "presentation")
            for item in items(step, [f"{step}-{n}" for n in range(3)], "1", "0", "-1")
        ],
    ),
    "rigorous": (
        get_protocol("rigorous"),
        RIGOROUS,
        [(i.dimension, i.item, ("0", f"{i.points:g}")) for i in RIGOROUS.rubric]
        + items("relevance", ["focus:1", "focus:2", "deviation:1"], *map(str, range(1, 6))),
    ),
    "own rubric": (
        test_own_rubric.protocol(),
        Case(report=report()),
        [
            *items("items", "a", "0", "1", "2"),
            *items("items", "b", "-1", "0.5", "1"),
            *items("items", "c", "0", "1"),
            *items("points", "k", "supported", "omitted", "contradicted"),
            *items("counted", "s", "within", "outside"),
        ],
    ),
}
COUNTED = ("given", "counted")
"""Steps that no judge is asked about."""


def judged(world: str, reports: Sequence[Sequence[JudgeAnswer]]) -> JudgedReports:
    """One report per list of answers, which are in the order of the world's items."""
    _, case, asked = WORLDS[world]
    cases, by_report = [], {}
    for number, answers in enumerate(reports):
        name = f"report {number}"
        cases.append(renamed(case, name))
        by_report[name] = [*collected(case)] + [
            ItemAnswer(step=step, item=item, answer=answer)
            for (step, item, _), answer in zip(asked, answers, strict=True)
        ]
    return framed(by_report, cases)


def renamed(case: Case, name: str) -> Case:
    def rename(row: Any) -> Any:
        return row.model_copy(update={"assignment": name}) if row else row

    rows = {
        part: tuple(map(rename, getattr(case, part))) for part in ("claims", "citations", "rubric")
    }
    single = {part: rename(getattr(case, part)) for part in ("report", "extraction", "bundle")}
    return case.model_copy(update=rows | single)


def collected(case: Case) -> list[ItemAnswer]:
    """What Rigorous Bench counts in a report."""
    if case.bundle is None:
        return []
    return [*collect_evidence(case, "", BundleSettings.model_validate_json(case.bundle.settings))]


def refused(world: str, answers: Sequence[JudgeAnswer], which: Sequence[bool]) -> list[JudgeAnswer]:
    return [
        failed(Status.BLOCKED) if blocked and step not in COUNTED else answer
        for (step, *_), answer, blocked in zip(WORLDS[world][2], answers, which, strict=True)
    ]


@pytest.mark.parametrize("world", sorted(WORLDS))
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_the_figure_of_all_verdicts_lies_within_the_bounds_of_those_that_are_left(
    world: str, data: st.DataObject
) -> None:
    protocol, _, asked = WORLDS[world]
    whole = [[ok(data.draw(st.sampled_from(labels))) for *_, labels in asked] for _ in ("x", "y")]
    left = [
        refused(
            world,
            answers,
            data.draw(st.lists(st.booleans(), min_size=len(asked), max_size=len(asked))),
        )
        for answers in whole
    ]
    bounds = compute_bounds(protocol, judged(world, left), JUDGE)
    shown = values(protocol, judged(world, left), JUDGE)
    for key, value in values(protocol, judged(world, whole), JUDGE).items():
        low, high, _, n_blocked = bounds.get(key, FigureBounds(None, None, None, 0))
        if low is None or high is None:
            unknown = key[1] in protocol.bounds.none
            assert n_blocked or unknown or value == shown[key], key
            continue
        for found in (value, shown[key]):
            assert found is None or low - 1e-9 <= found <= high + 1e-9, key


UNBOUNDED = {
    "wiki_fact": {"ref_disputed"},
    "both orders": {"position_bias"},
    "research_gym": {"clarity", "insight"},
    "rubric_bench": {"rubric_evidence_not_found"},
}
"""Metrics without bounds, although something that they rest on was refused."""


@pytest.mark.parametrize("world", sorted(set(WORLDS) - {"rigorous"}))
def test_bounds_are_missing_where_the_protocol_says_so_alone(world: str) -> None:
    protocol, _, asked = WORLDS[world]
    answers = [ok(labels[0]) for *_, labels in asked]
    for_all = refused(world, answers, [True] * len(asked))
    found = compute_bounds(protocol, judged(world, [for_all]), JUDGE)
    without = {metric for (_, metric), b in found.items() if b.n_blocked and b.bound_low is None}
    assert without == UNBOUNDED.get(world, set())


def test_relevance_has_no_bounds_and_rubrics_have() -> None:
    protocol, _, asked = WORLDS["rigorous"]
    answers = [ok(labels[-1]) for *_, labels in asked]
    known = {
        step: {
            metric.removeprefix("rigorous_")
            for (_, metric), b in compute_bounds(
                protocol,
                judged("rigorous", [refused("rigorous", answers, [s == step for s, *_ in asked])]),
                JUDGE,
            ).items()
            if b.bound_low is not None
        }
        for step in ("query", "relevance")
    }
    assert {"quality", "query_rubrics", "integrated", "integrated_eps1"} <= known["query"]
    assert known["relevance"] == set()


def test_of_one_of_six_refused_calls_the_bounds_hold_what_the_agent_deserves() -> None:
    """Two reports, three calls each: 31 of 78 criteria are won; of the 57 that are left, 31."""
    criteria = [
        (category.id, criterion.id)
        for category in WRITING.criteria.categories  # type: ignore[attr-defined]
        for criterion in category.all_criteria
    ]
    won = iter([True] * 31 + [False] * 78)
    reports: dict[str, list[ItemAnswer]] = {}
    for name, (step, item) in product(("x", "y"), criteria):
        is_refused = (name, step) == ("x", "well_written")
        said = ok("report" if not is_refused and next(won) else "reference")
        answer = failed(Status.BLOCKED) if is_refused else said
        reports.setdefault(name, []).append(ItemAnswer(step=step, item=item, answer=answer))
    metric = next(m for m in WRITING.metrics if m.name == "writing_overall")
    scores = scores_of(WRITING, framed(reports), metric.name)
    found = aggregate_bounds(metric, scores, {})
    assert aggregate("micro", scores, {}) == pytest.approx(0.544, abs=5e-4)
    assert found["bound_low"] == pytest.approx(0.397, abs=5e-4)
    assert found["bound_high"] == pytest.approx((31 + 21) / 78)
    assert found["n_blocked"] == 21


def scores_of(protocol: Protocol, verdicts: JudgedReports, metric: str) -> pl.DataFrame:
    """The scores' columns of one metric."""
    bounds = compute_bounds(protocol, verdicts, JUDGE)
    unmoved = FigureBounds(None, None, None, 0)
    rows = [
        {
            **row,
            "value": row["numerator"] / row["n_items"] if row["n_items"] else None,
            **bounds.get((row["assignment"], metric), unmoved)._asdict(),
        }
        for row in protocol.compute_figures(verdicts, JUDGE).iter_rows(named=True)
        if row["metric"] == metric
    ]
    return pl.DataFrame(rows)


def test_a_report_without_any_verdict_left_counts_in_the_bounds() -> None:
    asked = WORLDS["wiki_writing"][2]
    reports = [
        [ok("report")] * len(asked),
        refused("wiki_writing", [ok("report")] * len(asked), [True] * len(asked)),
    ]
    metric = next(m for m in WRITING.metrics if m.name == "writing_overall")
    scores = scores_of(WRITING, judged("wiki_writing", reports), metric.name)
    assert scores["value"].to_list() == [1.0, None]
    found = aggregate_bounds(metric, scores, {})
    assert (found["bound_low"], found["bound_high"]) == (0.5, 1.0)


def test_where_nothing_is_refused_figures_are_computed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = WORLDS["wiki_writing"][2]
    monkeypatch.setattr(type(WRITING), "compute_figures", None)
    verdicts = judged("wiki_writing", [[ok("report")] * len(asked)])
    assert compute_bounds(WRITING, verdicts, JUDGE) == {}


class Foreign:
    """A protocol like Wiki Writing that has nothing of what may be left out."""

    def __init__(self, entry: Any) -> None:
        self._like = cast(Any, type(WRITING))(entry)

    def __getattr__(self, name: str) -> Any:
        if name in OPTIONAL:
            raise AttributeError(name)
        return getattr(self._like, name)


def test_a_protocol_of_another_package_has_no_bounds_but_its_refused_items_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = load_protocol("wiki_writing")
    registry = "tasks.protocols.registry"
    monkeypatch.setattr(f"{registry}.list_extensions", lambda group: ["foreign"])
    monkeypatch.setattr(f"{registry}.load_extension", lambda group, name: Foreign)
    monkeypatch.setattr(f"{registry}.load_protocol", lambda name: entry)
    foreign = get_protocol("foreign")
    asked = WORLDS["wiki_writing"][2]
    left = refused("wiki_writing", [ok("report")] * len(asked), [True, *[False] * (len(asked) - 1)])
    found = compute_bounds(foreign, judged("wiki_writing", [left]), JUDGE)
    assert found["report 0", "writing_overall"] == FigureBounds(None, None, None, 1)
    assert foreign.boards == ()


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_every_protocol_says_for_each_step_what_is_worst_and_best_or_why_it_does_not(
    name: str,
) -> None:
    bounds = get_protocol(name).bounds
    assert bounds.steps or bounds.none
    assert all(bounds.none.values())
    assert not set(bounds.steps) & set(bounds.none)


def test_an_unscored_soft_figure_gets_no_bounds_and_a_scored_one_gets_them() -> None:
    protocol = WORLDS["wiki_fact"][0]
    answers = [
        ("coverage", "fact:0", ok("consistent")),
        ("coverage", "fact:1", failed(Status.BLOCKED)),
    ]

    def soft(score: float | None) -> FigureBounds:
        given = [
            ItemAnswer(
                step=s, item=i, answer=a.model_copy(update={"score": score if a.label else None})
            )
            for s, i, a in answers
        ]
        found = compute_bounds(protocol, framed({"x": given}, [renamed(citing(CITED), "x")]), JUDGE)
        return found["x", "coverage_wiki_soft"]

    assert soft(None).bound_low is None
    assert soft(0.5)[:3] == (0.25, 0.75, 2)
    assert set(METRIC_BY_CATEGORY) <= set(WRITING.bounds.steps)


def test_a_soft_figure_has_bounds_also_where_all_probabilities_are_of_other_reports() -> None:
    protocol = WORLDS["wiki_fact"][0]
    scored = ok("consistent").model_copy(update={"score": 0.5})
    given = {
        name: [ItemAnswer(step="coverage", item="fact:0", answer=answer)]
        for name, answer in (("x", scored), ("y", failed(Status.BLOCKED)))
    }
    cases = [renamed(citing(CITED), name) for name in given]
    found = compute_bounds(protocol, framed(given, cases), JUDGE)
    assert found["y", "coverage_wiki_soft"][:3] == (0.0, 1.0, 1)
