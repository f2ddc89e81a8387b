"""A published edition as files: whole, labelled, linked, and the same every time."""

import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin

import duckdb
import polars as pl
import pytest
from lxml import html

from tasks.configuration.models import load_protocol
from tasks.editions.names import UnknownName
from tasks.files.checksums import SUMS, parse_sums
from tasks.protocols.registry import get_protocol
from tasks.publishing.site import SiteSummary, build_site
from tasks.scoring.extractors import describe_extractors
from tasks.scoring.standings import compute_standings
from tasks.site.wording import format_figure
from tasks.warehouse.explanations import report_id
from tasks.warehouse.jobs import Job
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.results import LeaderboardRow, Verdict
from tasks.warehouse.rows import Article, Extraction, Report
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.wiki_editions import Collection
from tasks.warehouse.writer import Change
from tests.rigs.made_edition import BEGAN, EDITION, TINY, make
from tests.tasks.made_rows import a_row

OUTSIDE = re.compile(r"^(?:[a-z]+:)?//|^[a-z]+:", re.IGNORECASE)
PARTS = re.compile(r'window\.evergreenParts\("(?P<key>[^"]+)", (?P<content>.*)\);\n', re.DOTALL)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("made") / "w.duckdb", TINY)


def publish(warehouse: Path, target: Path, **options: Any) -> SiteSummary:
    with open_for_reading(warehouse) as source:
        return build_site(source, EDITION, target, **{"judges": ["offline"], **options})


def test_boards_and_method_page_name_the_extractors(warehouse: Path, pages: dict[str, Any]) -> None:
    with open_for_reading(warehouse) as source:
        said = describe_extractors(source, EDITION)
    assert said
    for page in ("index.html", "method.html"):
        assert said in " ".join(pages[page].text_content().split())


def test_a_report_without_reliable_citations_says_what_is_understood(
    warehouse: Path, tmp_path: Path
) -> None:
    changed = Path(shutil.copy(warehouse, tmp_path / "w.duckdb"))
    with open_warehouse(changed) as store:
        [row, *_] = store.rows(Extraction, "agent <> ''")
        doubted = {"pairs_reliable": False, "pairs_reason": "for a test"}
        store.write(Change(Extraction, [row.model_copy(update=doubted)]))
    folder = publish(changed, tmp_path / "site").folder
    said = {
        path.stem
        for path in (folder / "reports").glob("*.html")
        if "<dt>Read offline</dt>" in path.read_text("utf-8")
    }
    assert said == {report_id(EDITION, row.agent, row.assignment)}


def test_an_unknown_category_is_none_and_its_articles_are_said_to_be_left_out(
    warehouse: Path, tmp_path: Path
) -> None:
    changed = Path(shutil.copy(warehouse, tmp_path / "w.duckdb"))
    with open_warehouse(changed) as store:
        [first, *_] = store.rows(Article, "edition = $1", [EDITION])
        store.write(Change(Article, [first.model_copy(update={"category": "unknown"})]))
    folder = publish(changed, tmp_path / "site").folder
    said = [path.read_text("utf-8") for path in (folder / "agents").glob("*.html")]
    assert any("Left out because their category is not known: 1 article." in of for of in said)
    index = html.document_fromstring((folder / "index.html").read_text("utf-8"))
    assert "unknown" not in index.xpath("//select[@id='f-category']/option/@value")


def test_the_method_page_names_each_metric_and_setting(
    pages: dict[str, Any],
) -> None:
    [section] = pages["method.html"].xpath("//section[@id='protocol-wiki_fact']")
    assert "top_k: 10" in section.xpath("p/code/text()")
    names = [metric.name for metric in load_protocol("wiki_fact").metrics]
    assert section.xpath("dl/dt/code/text()") == names


@pytest.fixture(scope="module")
def published(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> SiteSummary:
    return publish(warehouse, tmp_path_factory.mktemp("site") / "site")


@pytest.fixture(scope="module")
def pages(published: SiteSummary) -> dict[str, Any]:
    """By path every page, parsed."""
    root = published.folder
    return {path.relative_to(root).as_posix(): html.document_fromstring(path.read_text("utf-8"))
            for path in sorted(root.rglob("*.html"))}  # fmt: skip


def test_there_is_a_page_for_everything(pages: dict[str, Any]) -> None:
    folders = [path.split("/")[0] for path in pages if "/" in path]
    assert {name: folders.count(name) for name in ("agents", "articles")} == {
        "agents": TINY.agents, "articles": TINY.articles,
    }  # fmt: skip
    reports = [path for path in pages if path.startswith("reports/") and "-" not in path]
    assert len(reports) == TINY.agents * TINY.articles
    assert {path for path in pages if "/" not in path} == {
        "index.html", "differences.html", "edition.html", "analyses.html", "method.html",
        "data.html",
    }  # fmt: skip


def test_every_page_names_the_judge_and_says_that_figures_are_provisional(
    pages: dict[str, Any],
) -> None:
    for path, page in pages.items():
        notices = [" ".join(p.itertext()) for p in page.xpath("//p[@role='note']")]
        assert any("offline lexical judge, no LLM used" in said for said in notices), path
        assert any("Provisional" in said for said in notices), path


def test_a_judge_that_never_answered_is_named_below_the_boards(
    warehouse: Path, tmp_path: Path, published: SiteSummary
) -> None:
    asked = Path(shutil.copy(warehouse, tmp_path / "w.duckdb"))
    with open_warehouse(asked) as opened:
        nothing = {"value": None, "n_items": 0, "n_reports": 0, "n_open": 9, "provisional": True}
        row = a_row(LeaderboardRow, edition=EDITION, agent=BEGAN, judge="silent", **nothing)
        elsewhere = row.model_copy(update={"metric": "on_no_board", "value": 0.5})
        opened.write(Change(LeaderboardRow, [row, elsewhere]))
    publish(asked, tmp_path / "site", judges=["silent", "offline"])
    index = (tmp_path / "site" / "index.html").read_text("utf-8")
    silent = "No figures by silent"  # of a judge that is no longer configured
    assert index.index('class="board"') < index.index(silent)
    assert silent not in (published.folder / "index.html").read_text("utf-8")


def test_every_page_has_the_policy_a_title_one_main_heading_and_a_language(
    pages: dict[str, Any],
) -> None:
    for path, page in pages.items():
        (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
        assert "default-src 'none'" in policy
        assert not {"unsafe-inline", "unsafe-eval", "http:", "https:", "*"} & set(policy.split())
        assert len(page.xpath("//h1")) == 1, path
        assert page.xpath("string(//title)").strip(), path
        assert page.get("lang") == "en"


def test_every_link_leads_to_a_file_and_a_place_that_are_there(
    published: SiteSummary, pages: dict[str, Any]
) -> None:
    ids = {path: set(page.xpath("//@id")) for path, page in pages.items()}
    root = published.folder.resolve()
    for path, page in pages.items():
        for link in page.xpath("//@href | //@src | //@data-parts"):
            if OUTSIDE.match(link):
                continue
            name, _, fragment = link.partition("#")
            base = (
                root
                if link.is_attribute and link.attrname == "data-parts"
                else (root / path).parent
            )
            there = (base / unquote(name)).resolve() if name else root / path
            assert there.is_file(), f"{path}: {link}"
            target = there.relative_to(root).as_posix()
            assert not fragment or fragment in ids[target], f"{path}: {link}"


def test_an_agents_page_leads_to_its_own_reports_and_to_no_others(pages: dict[str, Any]) -> None:
    linked = {path: {urljoin(path, link).partition("#")[0] for link in page.xpath("//main//@href")}
              for path, page in pages.items()}  # fmt: skip
    reports = {path for path in pages if path.startswith("reports/") and "-" not in path}
    agents = {path for path in pages if path.startswith("agents/")}
    for agent in agents:
        own = {path for path in reports if linked[path] & agents == {agent}}
        assert len(own) == TINY.articles
        assert linked[agent] & reports == own


def test_no_id_stands_twice_on_a_page(pages: dict[str, Any]) -> None:
    for path, page in pages.items():
        ids = page.xpath("//@id")
        assert len(ids) == len(set(ids)), path


def test_only_links_of_people_lead_outside(pages: dict[str, Any]) -> None:
    outside = [element for page in pages.values() for element in page.xpath("//*[@href or @src]")
               if OUTSIDE.match(element.get("href") or element.get("src"))]  # fmt: skip
    assert outside
    for element in outside:
        assert element.tag == "a"
        assert element.get("rel") == "noopener nofollow ugc"


def test_every_table_has_a_caption_and_its_headings_their_scope(pages: dict[str, Any]) -> None:
    for path, page in pages.items():
        for table in page.xpath("//main//table[not(ancestor::div[@class='report'])]"):
            assert "".join(table.xpath("./caption//text()")).strip(), path
            assert table.xpath(".//th"), path
            assert not table.xpath(".//th[not(@scope)]"), path


def test_what_was_written_is_listed_and_counted(published: SiteSummary) -> None:
    there = {p.relative_to(published.folder).as_posix()
             for p in published.folder.rglob("*") if p.is_file()}  # fmt: skip
    assert {SUMS, *parse_sums((published.folder / SUMS).read_bytes())} == there
    assert published.files == len(there)
    assert published.provisional
    assert published.first_load_bytes <= published.largest_page_bytes < 500_000


def find_differing(one: Path, other: Path) -> set[str]:
    """The files that are not the same in both folders."""
    files = [
        {(path.relative_to(folder).as_posix(), path.read_bytes())
         for path in folder.rglob("*") if path.is_file()}
        for folder in (one, other)
    ]  # fmt: skip
    return {path for path, _ in files[0] ^ files[1]}


def test_publishing_twice_gives_the_same_bytes(
    warehouse: Path, published: SiteSummary, tmp_path: Path
) -> None:
    publish(warehouse, tmp_path / "again")
    assert find_differing(published.folder, tmp_path / "again") == set()


def test_a_changed_verdict_changes_its_pages_and_no_other(
    warehouse: Path, published: SiteSummary, tmp_path: Path
) -> None:
    copy = tmp_path / "w.duckdb"
    copy.write_bytes(warehouse.read_bytes())
    with open_warehouse(copy) as opened:
        (verdict,) = opened.rows(
            Verdict, "agent = 'agent_01' AND assignment = 'x1' AND step = 'coverage' "
            "AND judge = 'offline' AND item = 'fact:2'", []
        )  # fmt: skip
        changed = verdict.model_copy(update={"reason": "Looked at again."})
        key = {"cell_id": verdict.cell_id, "step": verdict.step, "item": verdict.item}
        opened.write(Change(Verdict, [changed], replacing=key))
    publish(copy, tmp_path / "after")
    differing = find_differing(published.folder, tmp_path / "after")
    (facts,) = {path for path in differing if path.startswith("reports/")}
    assert facts.endswith("-facts.html")
    assert "Looked at again." in (tmp_path / "after" / facts).read_text("utf-8")
    assert differing == {facts, "data/verdicts.parquet", "data.html", SUMS}


def test_several_models_and_a_doubtful_end_are_told_where_the_agent_and_its_reports_stand(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(  # of a judge that stands for another; `offline` stands for none
        "tasks.publishing.boards.describe_stand_ins", lambda _, judge, of: f"{judge}, {sorted(of)}"
    )
    copy = Path(shutil.copy(warehouse, tmp_path / "w.duckdb"))
    with open_warehouse(copy) as opened:
        reports = opened.rows(Report, "agent = 'agent_01' AND status = 'ok'", [])
        for n, report in enumerate(sorted(reports, key=lambda report: report.assignment)):
            of = report.model_dump(include={"edition", "agent", "assignment"})
            job = a_row(Job, **of, job=f"j{n}", kind="chat", state="done", turn=1, attempt=1,
                        model_version=f"model-{min(n, 1)}",
                        remote_word="stop" if n else "because")  # fmt: skip
            made = report.model_copy(update={"source_path": f"job j{n}"})
            opened.write(Change(Job, [job]), Change(Report, [made]))
    publish(copy, tmp_path / "site")
    said = "answered as two models: 1 and 1 reports (model-0, model-1)"
    assert len(reports) == 2
    (agent,) = (tmp_path / "site/agents").glob("agent_01*.html")
    assert said.capitalize() in agent.read_text("utf-8")
    assert f'<abbr title="{said}">§</abbr>' in agent.read_text("utf-8")
    board = html.document_fromstring((tmp_path / "site/index.html").read_text("utf-8"))
    assert board.xpath("//abbr[text() = '§']/@title")
    notes = [note.text_content() for note in board.xpath("//p[@class = 'note']")]
    assert any(said in note for note in notes)
    assert any("offline, ['wiki_fact']" in note for note in notes)
    doubtful = [page for page in (tmp_path / "site/reports").glob("*.html")
                if "may not be whole: it ended with" in page.read_text("utf-8")]  # fmt: skip
    assert len(doubtful) == 1


def test_refused_items_are_told_where_the_agent_and_its_reports_stand(
    warehouse: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copy(warehouse, tmp_path / "w.duckdb"))
    moved = "bound_low = 0.0, bound_high = 1.0, n_blocked = 2"
    with duckdb.connect(str(copy)) as opened:
        of = "WHERE agent = 'agent_01' AND metric = 'coverage_wiki' AND judge = 'offline'"
        opened.execute(
            f"UPDATE leaderboard SET low = .2, high = .8, blocked_share = .25, {moved} {of}"
        )
        opened.execute(f"UPDATE scores SET {moved} {of}")
    publish(copy, tmp_path / "site")
    (agent,) = (tmp_path / "site/agents").glob("agent_01*.html")
    board = html.document_fromstring((tmp_path / "site/index.html").read_text("utf-8"))
    for page in (html.document_fromstring(agent.read_text("utf-8")), board):
        assert page.xpath("//abbr[text() = '¶']/@title")[0].startswith("uncertain: the judge")
        assert page.xpath("//small[contains(., '0.0–100.0 with what was refused')]")
    notes = [note.text_content() for note in board.xpath("//p[@class = 'note']")]
    assert any("Refused by the judge, of what it was asked: " in note for note in notes)
    told = [page for page in (tmp_path / "site/reports").glob("*.html")
            if "(refused: 2 items; with them: 0.0–100.0)" in page.read_text("utf-8")]  # fmt: skip
    assert told


def test_a_collected_edition_is_published_with_its_frozen_manifest(
    warehouse: Path, tmp_path: Path
) -> None:
    collected = Path(shutil.copy(warehouse, tmp_path / "w.duckdb"))
    with open_warehouse(collected) as opened:
        row = a_row(Collection, edition=EDITION, manifest='{"frozen": true}')
        opened.write(Change(Collection, [row]))
    publish(collected, tmp_path / "site")
    assert (tmp_path / "site/data/manifest.json").read_text("utf-8") == '{"frozen": true}'


def test_a_judge_that_is_named_twice_is_published_once(
    warehouse: Path, published: SiteSummary, tmp_path: Path
) -> None:
    publish(warehouse, tmp_path / "site", judges=["offline", "offline"])
    assert find_differing(published.folder, tmp_path / "site") == set()


def test_an_edition_or_judge_that_is_not_there_is_named(warehouse: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="nobody"):
        publish(warehouse, tmp_path / "site", judges=["nobody"])
    with open_for_reading(warehouse) as source, pytest.raises(UnknownName, match="elsewhere"):
        build_site(source, "elsewhere", tmp_path / "site")
    assert list(tmp_path.iterdir()) == []


def test_figures_of_a_part_are_those_that_standings_gives(
    warehouse: Path, published: SiteSummary
) -> None:
    with open_for_reading(warehouse) as source:
        scores = source.frame("SELECT * FROM scores WHERE edition = $1 AND judge = 'offline' "
                              "AND assignment = 'x1' ORDER BY agent", [EDITION])  # fmt: skip
    metric = next(m for m in get_protocol("wiki_fact").metrics if m.name == "coverage_wiki")
    rows = scores.filter(pl.col("metric") == metric.name)
    found = compute_standings(rows, metric, {"x1": "Warfare"}, {"x1": "x1"})
    expected = {row.agent: format_figure(row.value) for row in found.rows}
    part = _part(published.folder, "board-0", "Warfare|")
    column = _columns(published.folder, "board-0").index(metric.title)
    said = {row["agent"]: row["cells"][column][0].rstrip("*") for row in part["rows"]}
    assert said == expected
    assert {row["cells"][column][2] for row in part["rows"]} <= {"no interval", ""}
    assert part["said"].startswith("1 article.")


def _part(folder: Path, key: str, chosen: str) -> Any:
    found = PARTS.fullmatch((folder / f"data/parts/{key}.js").read_text("utf-8"))
    assert found
    assert found["key"] == key
    return json.loads(found["content"])["parts"][chosen]


def _columns(folder: Path, key: str) -> list[str]:
    page = html.document_fromstring((folder / "index.html").read_text("utf-8"))
    headings = page.xpath(f"//section[@id='{key}']//thead//th[@title]")[1:]
    return [str(th.get("title")).split(":")[0] for th in headings]


def test_open_answers_are_shown_as_open_and_counted(pages: dict[str, Any]) -> None:
    agent = pages[f"agents/{BEGAN}.html"]
    said = " ".join(agent.xpath("//main")[0].itertext())
    assert "Nothing failed, nothing is open." not in said
    marks = [page.xpath("//details[@data-tone='open']") for path, page in pages.items()
             if path.startswith("reports/")]  # fmt: skip
    assert sum(map(len, marks)) >= 1
