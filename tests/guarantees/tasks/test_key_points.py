"""Key points of an edition's articles: made by a model, quoted, merged, bought once."""

from collections.abc import Iterator
from typing import Any

import pytest

from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.registry import load_judge_entry
from tasks.key_points import NoKeyPoints, find_pending_key_points, load_documents
from tasks.planning.estimate import estimate_key_points
from tasks.planning.stages import count_stages
from tasks.warehouse.rows import Article, content_sha
from tasks.warehouse.rubrics import MERGED_FROM, SPANS, KeyPoint, PointSet
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.servers.oracle import Oracle
from tests.tasks.annotated import warehouse
from tests.tasks.answering import JUDGE, answering, made

__all__ = ["warehouse"]


class Changing(Oracle):
    """An oracle that changes what it would have answered."""

    def __init__(self) -> None:
        super().__init__()
        self.change: Any = lambda answer: answer

    def decide(self, prompt: Any, schema: dict[str, Any] | None) -> dict[str, Any]:
        answer: dict[str, Any] = self.change(super().decide(prompt, schema))
        return answer


@pytest.fixture
def model() -> Iterator[Changing]:
    changing = Changing()
    with answering(model=changing):
        yield changing


def n_calls(warehouse: Warehouse) -> int:
    return int(warehouse.value("SELECT count(*) FROM calls"))


def test_points_are_made_of_the_article_with_their_spans_and_bought_once(
    warehouse: Warehouse, model: Changing
) -> None:
    (item, *_) = items = find_pending_key_points(warehouse, "sample")
    assert len(items) == 3
    made(warehouse, items[:1])
    (found,) = warehouse.rows(PointSet, "true")
    assert (found.source, found.assignment) == ("judge", item.assignment)
    assert found.extractor_version.startswith(f"{JUDGE} ")
    points = warehouse.rows(KeyPoint, "true")
    assert [p.number for p in points] == list(range(1, found.n_points + 1))
    (document,) = load_documents(warehouse, item)
    assert "## References" not in document
    for point in points:
        assert MERGED_FROM.validate_json(point.merged_from)
        assert all(span in document for span in SPANS.validate_json(point.spans))
    assert found.n_spans == found.n_verbatim == found.n_found > 5
    assert len(find_pending_key_points(warehouse, "sample")) == 2
    assert n_calls(warehouse) == 2
    made(warehouse, items[:1])  # as after a crash before the points were committed
    assert n_calls(warehouse) == 2
    assert warehouse.rows(KeyPoint, "true") == points


def test_another_text_of_the_article_makes_other_points_but_for_published_ones(
    warehouse: Warehouse, model: Changing
) -> None:
    (item, *_) = items = find_pending_key_points(warehouse, "sample")
    made(warehouse, items[:1])
    (article,) = warehouse.rows(Article, "article = $1", [item.article])
    text = f"{article.text}\n\nIt was painted blue in 1990.\n"
    warehouse.write(
        Change(Article, [article.model_copy(update={"text": text, "text_sha": content_sha(text)})])
    )
    assert item.assignment in {
        one.assignment for one in find_pending_key_points(warehouse, "sample")
    }
    (found,) = warehouse.rows(PointSet, "true")
    warehouse.write(Change(PointSet, [found.model_copy(update={"source": "published"})]))
    assert item.assignment not in {
        one.assignment for one in find_pending_key_points(warehouse, "sample")
    }


def test_points_that_the_article_does_not_bear_out_are_dropped(
    warehouse: Warehouse, model: Changing
) -> None:
    def change(answer: dict[str, Any]) -> dict[str, Any]:
        points = answer.get("points", [])
        if points and "spans" in points[0]:
            points[0]["spans"].append("It was sold to the moon.")
            points.append({"point": "It is made of cheese.", "spans": ["made of cheese"]})
            points.append({"point": "It has no proof.", "spans": []})
        return answer

    model.change = change
    made(warehouse, find_pending_key_points(warehouse, "sample")[:1])
    (found,) = warehouse.rows(PointSet, "true")
    assert found.n_spans - found.n_verbatim == 2
    texts = " ".join(point.text for point in warehouse.rows(KeyPoint, "true"))
    assert not {"cheese", "proof"} & set(texts.replace(".", "").split())


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_points_need_no_merging(
    warehouse: Warehouse, model: Changing, n: int
) -> None:
    model.change = lambda answer: {"points": answer["points"][:n]}
    made(warehouse, find_pending_key_points(warehouse, "sample")[:1])
    (found,) = warehouse.rows(PointSet, "true")
    assert (found.n_points, found.n_found, n_calls(warehouse)) == (n, n, 1)
    assert len(find_pending_key_points(warehouse, "sample")) == 2, "none is an answer as well"


def test_an_answer_that_cannot_be_used_leaves_nothing_behind(
    warehouse: Warehouse, model: Changing
) -> None:
    model.change = lambda answer: {"points": "many"}
    items = find_pending_key_points(warehouse, "sample")[:1]
    with pytest.raises(NoKeyPoints, match="points"):
        made(warehouse, items)
    assert not warehouse.rows(PointSet, "true")
    assert not warehouse.rows(KeyPoint, "true")
    model.change = lambda answer: answer
    made(warehouse, items)
    assert len(warehouse.rows(PointSet, "true")) == 1


def test_an_answer_that_the_article_nowhere_bears_out_is_asked_for_again(
    warehouse: Warehouse, model: Changing
) -> None:
    def change(answer: dict[str, Any]) -> dict[str, Any]:
        for point in answer["points"]:
            point["spans"] = ["It was sold to the moon."]
        return answer

    model.change = change
    items = find_pending_key_points(warehouse, "sample")[:1]
    with pytest.raises(NoKeyPoints, match="no span stands in the document"):
        made(warehouse, items)
    assert not warehouse.rows(PointSet, "true")
    assert len(find_pending_key_points(warehouse, "sample")) == 3
    assert n_calls(warehouse) == 2, "asked again at once, with what was wrong"
    model.change = lambda answer: answer
    made(warehouse, items)
    (found,) = warehouse.rows(PointSet, "true")
    assert found.n_points > 1


def test_what_making_them_would_cost_is_estimated_until_it_has_been_bought(
    warehouse: Warehouse, model: Changing
) -> None:
    _, entry = load_judge_entry(JUDGE)
    assert isinstance(entry, LlmJudgeEntry)
    items = find_pending_key_points(warehouse, "sample")
    row = estimate_key_points(warehouse, JUDGE, entry, items).row(0, named=True)
    assert (row["protocol"], row["cells"], row["calls"]) == ("key_points", 3, 6)
    assert 0 < row["usd"] < row["usd_at_most"]
    made(warehouse, items[:1])
    again = estimate_key_points(warehouse, JUDGE, entry, items).row(0, named=True)
    assert again["in_ledger"] >= 1


def test_status_counts_them_where_a_protocol_goes_by_them(
    warehouse: Warehouse, model: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counted(name: str) -> list[tuple[int, int, int]]:
        stages = count_stages(warehouse, "sample", name)
        return [(s.done, s.pending, s.final) for s in stages if s.stage == "key points"]

    assert counted(JUDGE) == []
    monkeypatch.setattr("tasks.planning.stages.choose_protocols", lambda *of: ("research_gym",))
    assert counted(JUDGE) == [(0, 3, 0)]
    assert counted("offline") == [(0, 0, 3)]
    made(warehouse, find_pending_key_points(warehouse, "sample")[:1])
    assert counted(JUDGE) == [(1, 2, 0)]
    model.change = lambda answer: {"points": []}
    made(warehouse, find_pending_key_points(warehouse, "sample")[:1])
    assert counted(JUDGE) == [(1, 1, 1)], "an article without any is final, not done"
