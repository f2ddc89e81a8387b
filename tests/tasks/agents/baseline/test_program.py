"""The baseline writes only what archived pages say, each sentence with its source."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tasks.agents.baseline.index import UnreadableArchive, open_archive
from tasks.agents.baseline.program import (
    BaselineAssignment,
    CannotWrite,
    extract_question,
    main,
    write_report,
)
from tasks.agents.baseline.research import choose_statements, research
from tasks.configuration.folders import PACKAGED
from tasks.configuration.templates import StrictTemplate
from tasks.extraction.answers import parse_answer
from tasks.imports.queries import ANSWER_FORM, QUESTION_PROMPT
from tasks.warehouse.traces import SearchStep
from tests.tasks.agents.archives import PAGES, page, write_archive

TITLE = "Harrow Point Lighthouse"
CITED = re.compile(r"(.+?)\[(\d+)\](?:\s|\Z)")


def written(tmp_path: Path, *, prompt: str = "") -> tuple[str, tuple[SearchStep, ...]]:
    """What the program writes, in this process: an article, or the answer to a prompt."""
    archive = open_archive(write_archive(tmp_path / "archive"), tmp_path / "cache")
    kind = "find_claims" if prompt else "write_article"
    return write_report(archive, BaselineAssignment(title=TITLE, kind=kind, prompt=prompt))


@pytest.fixture(scope="module")
def article(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, tuple[SearchStep, ...]]:
    """Of a subject that the archive's pages are about, and the trace."""
    return written(tmp_path_factory.mktemp("asked"))


def test_an_article_holds_sentences_of_the_pages_each_with_its_source(
    article: tuple[str, tuple[SearchStep, ...]],
) -> None:
    report, _ = article
    body, _, references = report.partition("\n\n## References\n")
    urls = dict(re.findall(r"^\[(\d+)\] .* (https://\S+)$", references, re.MULTILINE))
    texts = {row["url"]: " ".join(row["text"].split()) for row in PAGES}
    paragraphs = [line for line in body.split("\n\n") if line and not line.startswith("## ")]
    said = [(text.strip(), number) for line in paragraphs for text, number in CITED.findall(line)]
    assert len(said) >= 8
    for text, number in said:
        assert text in texts[urls[number]]
    assert {number for _, number in said} == set(urls)
    assert "".join(f"{text}[{number}]" for text, number in said).replace(" ", "") == "".join(
        paragraphs
    ).replace(" ", "")
    assert "1874" in body
    assert "Maren Dahl" in body
    assert not re.search("cookies|newsletter|postcards|Tolmen|31 m|magnificent", report)


def test_it_tells_its_queries_and_the_pages_they_led_to(
    article: tuple[str, tuple[SearchStep, ...]],
) -> None:
    first, *others = article[1]
    assert first.query == TITLE
    assert "https://towers.example/harrow" in first.opened
    assert others
    assert all(step.parent == 0 and step.query.startswith(f"{TITLE} ") for step in others)


def test_a_research_query_is_answered_by_its_query_not_by_its_id(tmp_path: Path) -> None:
    query = "who built the harrow point lighthouse, and what is known of its keepers?"
    archive = open_archive(write_archive(tmp_path / "archive"), tmp_path / "cache")
    report, trace = write_report(
        archive, BaselineAssignment(title="923549", kind="research", query=query)
    )
    assert trace[0].query == query
    assert "Oskar Lindqvist" in report
    assert "Maren Dahl" in report
    assert "bakers" not in report
    assert "## References" in report


def test_where_nothing_is_archived_on_a_subject_nothing_is_made_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tmp_path / "assignment.json"
    told.write_text(json.dumps({"title": "Quantum Zebra Festival", "kind": "write_article"}))
    archive = write_archive(tmp_path / "archive")
    places = {"ASSIGNMENT": told, "ARCHIVE": archive, "CACHE": tmp_path / "cache"}
    assert main({f"EVERGREEN_{name}": str(path) for name, path in places.items()}) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("baseline: none of the")
    assert "'Quantum Zebra Festival'; nothing was written" in said.err


def test_an_archive_of_nothing_usable_is_no_crash(tmp_path: Path) -> None:
    empty = write_archive(tmp_path / "archive", (page("https://en.wikipedia.org/wiki/X", "X."),))
    with pytest.raises(CannotWrite, match="none of the 0 usable archived pages"):
        write_report(
            open_archive(empty, tmp_path / "cache"),
            BaselineAssignment(title=TITLE, kind="write_article"),
        )


def test_a_file_that_holds_no_pages_is_named(tmp_path: Path) -> None:
    (tmp_path / "pages.parquet").write_text("no parquet")
    with pytest.raises(UnreadableArchive, match=r"pages\.parquet is not a file of archived pages"):
        open_archive(tmp_path, tmp_path / "cache")
    with pytest.raises(UnreadableArchive, match="cannot be read"):
        open_archive(tmp_path / "missing", tmp_path / "cache")


def test_an_index_is_made_once_and_anew_for_other_pages(tmp_path: Path) -> None:
    archive, cache = write_archive(tmp_path / "archive"), tmp_path / "cache"
    (cache / "rest.fresh").mkdir(parents=True)  # of one who was killed in the middle
    open_archive(archive, cache)
    [made] = [path for path in cache.iterdir() if path.is_dir() and path.suffix != ".fresh"]
    before = made.stat().st_mtime_ns
    assert open_archive(archive, cache).n_pages == 4
    assert made.stat().st_mtime_ns == before
    write_archive(archive, PAGES[:2])
    assert open_archive(archive, cache).n_pages == 2


def test_those_who_come_at_once_share_one_index(tmp_path: Path) -> None:
    archive, cache = write_archive(tmp_path / "archive"), tmp_path / "cache"
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: open_archive(archive, cache).n_pages, range(4)))
    assert len(set(opened)) == 1
    assert len([path for path in cache.iterdir() if path.is_dir()]) == 1


def test_one_page_does_not_fill_the_article_where_there_are_others(tmp_path: Path) -> None:
    long = " ".join(
        f"The keeper numbered {n} of {TITLE} recorded storm {n * 7} in volume {n} of the logs."
        for n in range(1, 400)
    )
    pages = (*PAGES, page("https://logs.example/all", long, f"Logs of {TITLE}"))
    archive = open_archive(write_archive(tmp_path / "archive", pages), tmp_path / "cache")
    chosen = choose_statements(research(archive, TITLE), 600)
    urls = [statement.page.url for statement in chosen]
    of_logs = sum(len(s.text.split()) for s, u in zip(chosen, urls, strict=True) if "logs" in u)
    assert of_logs <= 220
    assert len(set(urls)) == 4


def prompt_of(question: str) -> str:
    return StrictTemplate(PACKAGED / QUESTION_PROMPT).render(
        question=question, today="21 November 2026", banned=["https://en.wikipedia.org/"],
        answer_form=ANSWER_FORM,
    )  # fmt: skip


def test_a_question_is_found_in_its_prompt() -> None:
    question = "Which keeper left in 1961?\n\nName the year, too."
    assert extract_question(prompt_of(question)) == question
    assert extract_question("Who was it?") == "Who was it?"
    assert extract_question("") == ""


def test_a_question_is_answered_in_the_form_asked_for_with_sources(tmp_path: Path) -> None:
    prompt = prompt_of("In which year did the last keeper leave the granite lighthouse, and who?")
    claims = parse_answer(written(tmp_path, prompt=prompt)[0]).claims
    assert claims
    assert all(claim.value and claim.sources for claim in claims)
    assert "Maren Dahl" in [claim.value for claim in claims]
    assert {(sub.name, sub.value) for claim in claims for sub in claim.sub_claims} == {
        ("year", "1961")
    }


def test_a_question_of_which_nothing_is_archived_gets_no_answer(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="no archived page has a name"):
        written(tmp_path, prompt=prompt_of("zzz qqq xxx?"))
