"""Published research queries come in with their measures, and coming in again changes nothing."""

from datetime import UTC, datetime

import pytest

from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery, PublishedSet
from tasks.imports.queries import import_queries
from tasks.warehouse.rows import Article, Assignment, Edition
from tasks.warehouse.rubrics import (
    ALLOWED_VALUES,
    MERGED_FROM,
    BundleSettings,
    KeyPoint,
    PointSet,
    Rubric,
    RubricBundle,
)
from tasks.warehouse.store import Warehouse

SET = PublishedSet(layout="drb2", title="A bench", protocol="rubric_bench")
TABLES = (Edition, Article, Assignment, RubricBundle, Rubric, PointSet, KeyPoint)
ITEMS = (
    PublishedItem(item="b-1", dimension="b", text="Says so.", allowed=("1", "0"), points=1),
    PublishedItem(item="a-1", dimension="a", text="Says it.", allowed=("2", "1", "0"), points=2),
)
RUBRIC = PublishedQuery(
    key="one", query="Why?", items=ITEMS, settings=BundleSettings(language="en", theme="Law")
)
POINTS = PublishedQuery(key="two", query="How?", points=(("By day.", (1, 3)), ("By night.", (2,))))
NO_POINTS = PublishedQuery(key="three", query="When?", points=())
REFERENCE = PublishedQuery(key="four", query="Who?", reference="# Who\n\nThey.")
QUERIES = (RUBRIC, POINTS, NO_POINTS, REFERENCE)


@pytest.fixture
def bench(warehouse: Warehouse) -> Warehouse:
    """With all of the queries."""
    import_queries(warehouse, SET, QUERIES, "bench")
    return warehouse


def contents(warehouse: Warehouse) -> list[object]:
    return [warehouse.rows(model, "true") for model in TABLES]


def test_a_query_becomes_an_assignment_that_agents_can_be_asked(warehouse: Warehouse) -> None:
    summary = import_queries(warehouse, SET, QUERIES, "bench")
    assert (summary.queries, summary.new, summary.items, summary.points) == (4, 4, 2, 2)
    asked = {a.assignment: a for a in warehouse.rows(Assignment, "edition = 'bench'")}
    assert {(a.kind, a.query) for a in asked.values()} == {
        ("research", "Why?"), ("research", "How?"), ("research", "When?"), ("research", "Who?"),
    }  # fmt: skip
    assert "\nWhy?\n" in str(asked["one"].prompt)
    assert f"Today is {datetime.now(UTC):%-d %B %Y}." in str(asked["one"].prompt)
    assert "Says so" not in "".join(str(a.prompt) for a in asked.values())


def test_a_rubric_keeps_its_order_and_its_settings(bench: Warehouse) -> None:
    rubrics = sorted(bench.rows(Rubric, "true"), key=lambda rubric: rubric.number)
    assert [(r.item, r.protocol, r.points) for r in rubrics] == [
        ("b-1", "rubric_bench", 1.0), ("a-1", "rubric_bench", 2.0),
    ]  # fmt: skip
    assert ALLOWED_VALUES.validate_json(rubrics[1].allowed) == ("2", "1", "0")
    [bundle] = bench.rows(RubricBundle, "true")
    assert (bundle.assignment, bundle.n_items, bundle.source) == ("one", 2, "published")
    assert BundleSettings.model_validate_json(bundle.settings).theme == "Law"


def test_no_key_points_is_another_thing_than_none_known(warehouse: Warehouse) -> None:
    summary = import_queries(warehouse, SET, QUERIES, "bench")
    assert summary.without_points == 1
    sets = {s.assignment: (s.n_points, s.n_found) for s in warehouse.rows(PointSet, "true")}
    assert sets == {"two": (2, 3), "three": (0, 0)}
    points = warehouse.rows(KeyPoint, "true")
    assert [(p.number, p.text) for p in points] == [(1, "By day."), (2, "By night.")]
    assert MERGED_FROM.validate_json(points[0].merged_from) == (1, 3)


def test_a_reference_report_is_the_assignments_article(bench: Warehouse) -> None:
    [article] = bench.rows(Article, "true")
    assert (article.article, article.text) == ("four", "# Who\n\nThey.")
    articles = {a.assignment: a.article for a in bench.rows(Assignment, "true")}
    assert articles == {"one": "", "two": "", "three": "", "four": "four"}


def test_the_same_queries_again_change_nothing(bench: Warehouse) -> None:
    before = contents(bench)
    summary = import_queries(bench, SET, QUERIES, "bench")
    assert (summary.new, contents(bench)) == (0, before)


def test_more_queries_join_those_that_are_there(warehouse: Warehouse) -> None:
    import_queries(warehouse, SET, QUERIES[:1], "bench")
    assert import_queries(warehouse, SET, QUERIES, "bench").new == 3


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (RUBRIC.model_copy(update={"query": "Why not?"}), "another query under the key 'one'"),
        (RUBRIC.model_copy(update={"items": ITEMS[:1]}), "another rubric under the key 'one'"),
        (
            RUBRIC.model_copy(update={"settings": BundleSettings(draft=True)}),
            "another rubric under the key 'one'",
        ),
        (
            POINTS.model_copy(update={"points": (("By day.", ()),)}),
            "other key points under the key 'two'",
        ),
        (
            REFERENCE.model_copy(update={"reference": "# Who\n\nWe."}),
            "another reference under the key 'four'",
        ),
        (POINTS.model_copy(update={"reference": "# How"}), "another reference under the key 'two'"),
    ],
)
def test_what_has_changed_under_a_known_key_is_refused(
    changed: PublishedQuery, says: str, bench: Warehouse
) -> None:
    before = contents(bench)
    with pytest.raises(EditionError, match=says):
        import_queries(bench, SET, [changed], "bench")
    assert contents(bench) == before


def test_what_a_rubric_is_filed_under_may_get_another_name(bench: Warehouse) -> None:
    [before] = bench.rows(RubricBundle, "true")
    import_queries(
        bench, SET,
        [RUBRIC.model_copy(update={"settings": BundleSettings(language="en", theme="Art")})],
        "bench",
    )  # fmt: skip
    [after] = bench.rows(RubricBundle, "true")
    assert after.bundle_sha == before.bundle_sha
    assert BundleSettings.model_validate_json(after.settings).theme == "Art"


def test_agents_that_were_told_something_else_are_not_told_anew(warehouse: Warehouse) -> None:
    told = RUBRIC.model_copy(update={"agent_query": "Why? In two pages."})
    import_queries(warehouse, SET, [told], "bench")
    assert import_queries(warehouse, SET, [told], "bench").new == 0
    other = told.model_copy(update={"agent_query": "Why? In ten pages."})
    with pytest.raises(EditionError, match="another prompt under the key 'one'"):
        import_queries(warehouse, SET, [other], "bench")


def test_another_publishers_edition_is_left_alone(bench: Warehouse) -> None:
    other = SET.model_copy(update={"layout": "drgym"})
    with pytest.raises(EditionError, match="comes from drb2"):
        import_queries(bench, other, QUERIES, "bench")
