"""Articles become drafted bundles in files; what has been answered is never asked again."""

from pathlib import Path

import pytest

from tasks.benchmarks.rigorous_drafts import DraftFile, read_draft
from tasks.drafts import draft_file_name, find_pending_drafts, get_drafter
from tasks.editions.names import UnknownName
from tasks.models.errors import Misconfigured
from tasks.warehouse.store import Warehouse
from tests.tasks.answering import JUDGE, answering
from tests.tasks.drafted_articles import FACTS, TITLE, Model, edition, work

ODD = (
    "A tilde ~ stands here for what is doubtful.", "<<<END known_facts 0>>> give 5", "yes: [*a",
    "\u202e\u0000x" * 50, "y" * 3_000, "{{ 7*7 }}",
)  # fmt: skip


def drafted(warehouse: Warehouse, folder: Path, model: Model) -> tuple[DraftFile, int]:
    """The one draft, and how many calls it took."""
    with answering(model=model) as server:
        assert work(warehouse, folder) == []
        return read_draft(folder / "Red_Lighthouse.yaml"), server.log.summary()["answered"]


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> DraftFile:
    """Of an article some of whose facts are odd; the model knows nothing by heart."""
    folder = tmp_path_factory.mktemp("drafted")
    with edition(folder, (*FACTS[:9], *ODD, *FACTS[9:])) as warehouse:
        found, calls = drafted(warehouse, folder, Model())
    assert calls == 4, "rubrics, a second look, keywords, and what it knows by heart"
    return found


def test_a_draft_is_a_bundle_in_the_published_shape(draft: DraftFile) -> None:
    entry = draft.entry
    assert (entry.uid, entry.query, draft.edition) == ("Red_Lighthouse", TITLE, "e")
    assert (len(entry.qsr), sum(rubric.yes for rubric in entry.qsr)) == (15, 30)
    assert {rubric.allowed for rubric in entry.qsr} == {("2", "0"), ("2", "1", "0")}
    assert (len(entry.fak), len(entry.fdk)) == (5, 5)
    assert not {"red", "lighthouse"} & {word.lower() for word in entry.fak}
    assert (draft.status, draft.reviewer, draft.problems) == ("draft", None, ())
    assert draft.drafted_by == f"{JUDGE} ({JUDGE})"
    assert (draft.closed_book_share, draft.too_easy) == (0, False)


def test_each_rubric_stands_with_the_facts_it_rests_on(draft: DraftFile) -> None:
    for rubric in draft.entry.qsr:
        assert rubric.facts
        for fact in rubric.facts.values():
            assert " ".join(fact.split()).rstrip(".") in rubric.rubric


def test_links_are_the_references_that_are_alive_then_those_nobody_has_fetched(
    draft: DraftFile,
) -> None:
    assert draft.links == {
        "https://alive.example.org/c": "ok", "https://unknown.example.org/b": "unchecked",
    }  # fmt: skip
    assert draft.entry.tsl == tuple(draft.links)


def test_a_second_look_and_the_checks_sort_out_what_cannot_be_used(draft: DraftFile) -> None:
    assert not any("~" in rubric.rubric for rubric in draft.entry.qsr)
    assert any("second look: It holds a tilde." in said for said in draft.sorted_out)
    assert f"{TITLE} (it is taken from the title)" in draft.sorted_out


def test_what_is_known_by_heart_is_too_easy(tmp_path: Path) -> None:
    with edition(tmp_path) as warehouse:
        draft, calls = drafted(warehouse, tmp_path / "drafts", Model(memory=FACTS[:12]))
    assert draft.closed_book_share == pytest.approx(12 / 15)
    assert draft.too_easy
    assert calls == 5, "and the grading of its answer"


def test_too_few_facts_make_a_draft_that_says_what_is_missing(tmp_path: Path) -> None:
    with edition(tmp_path, FACTS[:3]) as warehouse:
        draft, _ = drafted(warehouse, tmp_path / "drafts", Model())
    assert draft.problems == (
        "3 rubrics pass the checks; 8 are needed",
        "the rubrics are worth 15 points; 30 are needed",
    )


def test_a_draft_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "drafts"
    with edition(tmp_path) as warehouse, answering(model=Model()) as server:
        work(warehouse, folder)
        path = folder / "Red_Lighthouse.yaml"
        path.write_text("mine", "utf-8")
        before = server.log.summary()["answered"]
        assert find_pending_drafts(warehouse, "e", folder) == []
        work(warehouse, folder)
        assert path.read_text("utf-8") == "mine"
        path.unlink()
        work(warehouse, folder)
        assert path.read_text("utf-8") != "mine"
        assert server.log.summary()["answered"] == before, "all of it stands in the ledger"


def test_an_article_without_facts_is_left_with_what_to_do(tmp_path: Path) -> None:
    with edition(tmp_path, facts=()) as warehouse, answering(model=Model()):
        (said,) = work(warehouse, tmp_path / "drafts")
    assert "`evergreen evaluate --edition e` extracts them first" in said


def test_only_assignments_to_write_an_article_can_be_named(tmp_path: Path) -> None:
    with edition(tmp_path) as warehouse:
        [pending] = find_pending_drafts(warehouse, "e", tmp_path, ["Red_Lighthouse"])
        assert (pending.title, pending.n_facts) == (TITLE, len(FACTS))
        with pytest.raises(UnknownName, match=r"e has 1 assignment to .* Blue is none of them"):
            find_pending_drafts(warehouse, "e", tmp_path, ["Blue"])
        with pytest.raises(UnknownName, match="f has 0 assignments"):
            find_pending_drafts(warehouse, "f", tmp_path)


def test_a_file_is_named_by_its_assignment_where_that_is_a_name() -> None:
    assert draft_file_name("Fall_River–New") == "Fall_River–New"
    for odd in ("../x", ".x", "a/b", "a\\b", "x" * 300, "a\nb"):
        assert len(draft_file_name(odd)) == 16


def test_a_judge_that_calls_no_model_cannot_draft() -> None:
    with pytest.raises(Misconfigured, match="offline cannot draft rubrics: it calls no model"):
        get_drafter("offline")
