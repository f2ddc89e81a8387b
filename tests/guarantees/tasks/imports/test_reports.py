"""Reports come in from files of any kind; what cannot come in says why and stops nothing."""

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tasks.benchmarks.errors import EditionError
from tasks.collection.freeze import freeze_edition
from tasks.documents.document import ParsedDocument
from tasks.documents.reading import read_document
from tasks.editions.manifest import find_changes
from tasks.editions.names import UnknownName
from tasks.imports.matching import match_reports
from tasks.imports.reports import FileOutcome, ReportsSummary, import_reports
from tasks.imports.wlc import import_edition
from tasks.planning.next_step import count_progress
from tasks.planning.stages import count_stages
from tasks.warehouse.contents import FileStore, files_folder
from tasks.warehouse.jobs import ImportIssue, ReportFile
from tasks.warehouse.results import Score
from tasks.warehouse.rows import Agent, Assignment, Claim, Edition, Extraction, Report, content_sha
from tasks.warehouse.snapshot import exports_folder
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.traces import SearchTrace
from tasks.warehouse.writer import Change
from tests.flows.llm_runs import SAMPLE
from tests.guarantees.tasks.editions.test_manifest import collected
from tests.tasks.benchmarks.questions_builder import QUESTIONS, import_questions, write_questions
from tests.tasks.documents.builders import lines, pdf, picture, scan, word
from tests.tasks.made_rows import a_row

TEXT = "# Mercury\n\nMercury is the smallest planet.[1]\n\n[1] https://a.org/mercury\n"
BRIDGES, LIGHTHOUSE, MERCURY = (
    "Seven_Bridges_of_Königsberg",
    "Eddystone_Lighthouse",
    "Mercury_(planet)",
)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with one agent's reports; never changed."""
    path = tmp_path_factory.mktemp("imported") / "w.duckdb"
    with open_warehouse(path) as opened:
        import_edition(opened, SAMPLE, "sample", ["sample_sketch"])
    return path


@pytest.fixture
def warehouse(imported: Path, tmp_path: Path) -> Iterator[Warehouse]:
    with open_warehouse(shutil.copy(imported, tmp_path / "warehouse.duckdb")) as opened:
        yield opened


def give(folder: Path, **files: bytes | str) -> Path:
    """Files by name; `__` stands for the dot before the ending."""
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def take(
    warehouse: Warehouse,
    path: Path,
    edition: str = "sample",
    agent: str | None = "mine",
    yes: bool = False,
    replace: bool = False,
) -> ReportsSummary:
    matched = match_reports(warehouse, path, edition, agent)
    return import_reports(warehouse, matched, accept_guesses=yes, replace=replace)


def outcomes(summary: ReportsSummary) -> dict[str, str]:
    return {outcome.path: outcome.outcome for outcome in summary.outcomes}


def reports(warehouse: Warehouse, agent: str = "mine") -> dict[str, Report]:
    return {r.assignment: r for r in warehouse.rows(Report, "agent = $1", [agent])}


def contents(warehouse: Warehouse) -> list[object]:
    return [warehouse.rows(m, "true") for m in (Agent, Report, ReportFile, ImportIssue)]


def test_a_report_comes_in_with_its_file_and_its_pictures(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    content = word(
        lambda document: (
            document.add_paragraph("Mercury is the smallest planet."),
            document.add_picture(str(_saved(tmp_path / "p.png", picture()))),
        )
    )
    folder = give(tmp_path / "files", **{f"{MERCURY}__docx": content})
    summary = take(warehouse, folder)
    assert outcomes(summary) == {f"{MERCURY}.docx": "new"}
    assert summary.complete
    [report] = reports(warehouse).values()
    assert (report.assignment, report.status) == (MERCURY, "ok")
    assert report.source_path == f"{MERCURY}.docx"
    assert report.text_sha == content_sha(report.text)
    assert "![](image-1.png)" in report.text
    files = warehouse.rows(ReportFile, "agent = 'mine'")
    assert [(f.number, f.name, f.sha) for f in files] == [
        (0, f"{MERCURY}.docx", sha256(content).hexdigest()),
        (1, "image-1.png", sha256(picture()).hexdigest()),
    ]
    kept = FileStore(files_folder(warehouse.location))
    assert [kept.get(f.sha) for f in files] == [content, picture()]
    assert {a.agent for a in warehouse.rows(Agent, "true")} == {"mine", "sample_sketch"}
    assert (
        exports_folder(warehouse.location) / "sample" / "latest" / "report_files.parquet"
    ).exists()


def test_a_dry_run_says_what_an_import_would_and_keeps_nothing(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    unlisted = "# Wheel\n\nThe wheel turns twice a day.[1] It lifts eight boats.[2]\n"
    given: dict[str, bytes | str] = {
        f"{MERCURY}__md": TEXT, f"{BRIDGES}__md": unlisted, "stranger__md": "x",
        f"{LIGHTHOUSE}__png": picture(),
    }  # fmt: skip
    folder = give(tmp_path / "files", **given)

    def run(dry_run: bool) -> ReportsSummary:
        matched = match_reports(warehouse, folder, "sample", "mine")
        return import_reports(warehouse, matched, understand=True, dry_run=dry_run)

    def files() -> set[Path]:
        kept = {*tmp_path.rglob("*")}
        return {path for path in kept if path.is_file() and path.parent != tmp_path}

    before, there = contents(warehouse), files()
    tried = run(dry_run=True)
    assert (contents(warehouse), files()) == (before, there)
    assert tried == run(dry_run=False)
    assert contents(warehouse) != before
    found = {outcome.assignment: outcome.understood for outcome in tried.outcomes}
    assert found[MERCURY] == (
        "9 words, 1 claim (cited by their own markers 1, by others of their paragraph 0, by later "
        "ones 0), 1 citation marker (1 lead to a URL), 1 list entry with a URL"
    )
    assert str(found[BRIDGES]).endswith(
        "2 citation markers (0 lead to a URL), 0 list entries with a URL; not reliable: "
        "2 citation markers, but no reference list with URLs"
    )
    assert found[LIGHTHOUSE] is found[None] is None
    assert not tried.complete


def _saved(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_the_same_files_again_change_nothing_and_a_changed_one_only_itself(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    files: dict[str, bytes | str] = {
        f"{MERCURY}__md": TEXT,
        f"{LIGHTHOUSE}__txt": "A light stands on the rocks.\n",
        f"{BRIDGES}__pdf": b"%PDF-broken",
    }
    folder = give(tmp_path / "files", **files)
    take(warehouse, folder)
    before = contents(warehouse)
    again = take(warehouse, folder)
    assert contents(warehouse) == before
    assert sorted(outcomes(again).values()) == ["unchanged", "unchanged", "unreadable"]
    give(folder, **{f"{MERCURY}__md": TEXT + "More.\n"})
    assert outcomes(take(warehouse, folder))[f"{MERCURY}.md"] == "changed"
    assert reports(warehouse)[MERCURY].text.endswith("More.\n")


def test_a_changed_report_is_not_judged_any_more(warehouse: Warehouse, tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {f"{MERCURY}__md": TEXT, f"{LIGHTHOUSE}__md": TEXT}
    take(warehouse, give(tmp_path / "files", **files))
    for assignment in (MERCURY, LIGHTHOUSE):
        key = {"edition": "sample", "agent": "mine", "assignment": assignment}
        warehouse.write(
            Change(Claim, [a_row(Claim, **key)]),
            Change(Extraction, [a_row(Extraction, **key)]),
            Change(Score, [a_row(Score, **key, judge="offline", numerator=0.5, n_items=1)]),
        )
    before = count_progress(warehouse, "sample", "offline")
    take(warehouse, give(tmp_path / "files", **{f"{MERCURY}__md": TEXT + "More.\n"}))
    after = count_progress(warehouse, "sample", "offline")
    assert (after.unjudged, after.unextracted) == (before.unjudged + 1, before.unextracted + 1)
    for table in ("claims", "extractions", "scores"):
        left = warehouse.frame(f"SELECT assignment FROM {table} WHERE agent = 'mine'")
        assert left["assignment"].to_list() == [LIGHTHOUSE]


def test_a_report_that_came_otherwise_is_no_longer_failed(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    files: dict[str, bytes | str] = {f"{MERCURY}__pdf": b"%PDF-broken", "x__md": TEXT}
    take(warehouse, give(tmp_path / "files", **files))

    def failed() -> int:
        counts = count_stages(warehouse, "sample", "offline")
        return next(row.failed for row in counts if row.stage == "reports")

    assert failed() == 2
    mended = give(tmp_path / "mended", **{f"{MERCURY}__md": TEXT}) / f"{MERCURY}.md"
    assert take(warehouse, mended).complete
    assert failed() == 1
    assert [i.path for i in warehouse.rows(ImportIssue, "scope = 'mine'")] == ["x.md"]


def test_what_cannot_be_read_is_listed_and_the_rest_goes_in(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    folder = give(
        tmp_path / "files",
        **{f"{MERCURY}__pdf": pdf(lines("One two three four."), scan, scan),
           f"{LIGHTHOUSE}__pdf": pdf(lines("secret"), password="x"),
           f"{BRIDGES}__md": b"", "notes__xlsx": b"x", ".DS_Store": b"x"},
    )  # fmt: skip
    summary = take(warehouse, folder)
    assert outcomes(summary) == {
        f"{LIGHTHOUSE}.pdf": "unreadable",
        f"{MERCURY}.pdf": "new",
        f"{BRIDGES}.md": "unreadable",
        "notes.xlsx": "unreadable",
    }
    assert not summary.complete
    assert set(reports(warehouse)) == {MERCURY}
    issues = {i.path: i for i in warehouse.rows(ImportIssue, "scope = 'mine'")}
    assert issues[f"{LIGHTHOUSE}.pdf"].message.startswith("it is locked with a password")
    assert issues[f"{MERCURY}.pdf"].message == "pages 2-3 of 3 not read: no text, 1 picture"
    assert {path: i.severity for path, i in issues.items()} == {
        f"{LIGHTHOUSE}.pdf": "unreadable",
        f"{MERCURY}.pdf": "remark",
        f"{BRIDGES}.md": "unreadable",
        "notes.xlsx": "unreadable",
    }
    [file, scanned] = warehouse.rows(ReportFile, "agent = 'mine'")  # both pages are one picture
    assert (file.n_pages, file.n_unreadable_pages) == (3, 2)
    assert (scanned.number, scanned.media_type, scanned.n_pages) == (1, "image/png", None)
    # Mended files come in, and what was said of them is forgotten.
    give(folder, **{f"{LIGHTHOUSE}__pdf": pdf(lines("A light stands on the rocks."))})
    take(warehouse, folder / f"{LIGHTHOUSE}.pdf")
    left = {i.path for i in warehouse.rows(ImportIssue, "scope = 'mine'")}
    assert left == {f"{MERCURY}.pdf", f"{BRIDGES}.md", "notes.xlsx"}


def test_a_report_of_pictures_is_kept_without_a_text(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = give(
        tmp_path / "files", **{f"{MERCURY}__pdf": pdf(scan), f"{LIGHTHOUSE}__png": picture()}
    )
    assert take(warehouse, folder).count("new") == 2
    found = reports(warehouse).values()
    assert {(r.status, r.text) for r in found} == {("scanned", "")}
    kinds = {f.media_type for f in warehouse.rows(ReportFile, "agent = 'mine'")}
    assert kinds == {"application/pdf", "image/png"}


def test_guesses_are_written_only_with_consent(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = give(
        tmp_path / "files",
        **{"idx-2__md": TEXT, "the eddystone lighthouse v2__md": "A light stands there.\n"},
    )
    matched = match_reports(warehouse, folder, "sample", "mine")
    assert [(g.match.assignment, g.match.how) for g in matched.files] == [
        (MERCURY, "number"),
        (LIGHTHOUSE, "likeness"),
    ]
    refused = import_reports(warehouse, matched)
    assert refused.count("left out") == 2
    assert reports(warehouse) == {}
    assert "agree with --yes" in refused.outcomes[0].remarks[0]
    assert import_reports(warehouse, matched, accept_guesses=True).count("new") == 2
    assert set(reports(warehouse)) == {MERCURY, LIGHTHOUSE}
    give(folder, **{"idx-2__md": f"{TEXT} It has been changed.\n"})
    again = import_reports(warehouse, match_reports(warehouse, folder, "sample", "mine"))
    assert [one.outcome for one in again.outcomes] == ["changed", "unchanged"], "accepted before"


def test_one_assignment_in_two_formats_is_left_out(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = give(tmp_path / "files", **{f"{MERCURY}__md": TEXT, f"{MERCURY}__txt": TEXT})
    summary = take(warehouse, folder, yes=True)
    assert summary.count("left out") == 2
    assert "another format" in summary.outcomes[0].remarks[0]
    assert reports(warehouse) == {}


def test_every_agent_may_have_a_folder(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    give(folder / "report" / "grok", **{f"{MERCURY}__md": TEXT})
    give(folder / "report" / "openai", **{f"{LIGHTHOUSE}__md": TEXT, "idx-1__md": TEXT})
    summary = take(warehouse, folder, agent=None)
    assert {(o.agent, o.path, o.outcome) for o in summary.outcomes} == {
        ("grok", f"report/grok/{MERCURY}.md", "new"),
        ("openai", f"report/openai/{LIGHTHOUSE}.md", "new"),
        ("openai", "report/openai/idx-1.md", "left out"),
    }
    names = {a.agent: a.name for a in warehouse.rows(Agent, "agent IN ('grok', 'openai')")}
    assert names == {"grok": "Grok Deep Search", "openai": "OpenAI o3 Deep Research"}


def test_a_report_that_was_asked_for_is_replaced_only_on_demand(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    key = {"edition": "sample", "agent": "mine", "assignment": MERCURY}
    asked = Report(**key, text="bought", text_sha=content_sha("bought"), source_path="job 7")
    trace = SearchTrace(**key, trace="[]", trace_sha=content_sha("[]"), source="agent")
    warehouse.write(Change(Report, [asked]), Change(SearchTrace, [trace]))
    folder = give(tmp_path / "files", **{f"{MERCURY}__md": TEXT})
    summary = take(warehouse, folder, yes=True)
    assert "requested from mine: replace it with --replace" in summary.outcomes[0].remarks[0]
    assert reports(warehouse)[MERCURY] == asked
    assert take(warehouse, folder, replace=True).count("changed") == 1
    assert reports(warehouse)[MERCURY].text == TEXT
    assert warehouse.rows(SearchTrace, "true") == []


def test_other_agents_rows_stay_as_they_are(warehouse: Warehouse, tmp_path: Path) -> None:
    def others() -> str:
        rows = [
            row.model_dump(mode="json")
            for model in (Agent, Report, ReportFile, ImportIssue)
            for row in warehouse.rows(model, f"{_agent(model)} <> 'mine'")
        ]
        return json.dumps(rows)

    before = others()
    take(warehouse, give(tmp_path / "files", **{f"{MERCURY}__md": TEXT, "x__md": ""}))
    assert others() == before


def _agent(model: type) -> str:
    return "scope" if model is ImportIssue else "agent"


def test_a_collected_edition_takes_reports_and_stays_as_it_was_frozen(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    freeze_edition(warehouse, collected(warehouse, "fresh"))
    given = [Assignment(edition="fresh", assignment=n, article=n) for n in ("Mill", "Weir")]
    warehouse.write(Change(Assignment, given))
    folder = give(tmp_path / "files", mill__md=TEXT, Weir__html=f"<p>{TEXT}</p>")
    assert take(warehouse, folder, "fresh").count("new") == 2
    assert find_changes(warehouse, "fresh") == []


def test_an_answer_to_a_question_stays_as_it_stands(warehouse: Warehouse, tmp_path: Path) -> None:
    import_questions(warehouse, write_questions(tmp_path / "live.json"), "live")
    key = QUESTIONS[0][0]
    answer = '{"claims": [{"value": "Could you please clarify?"}]}'
    take(warehouse, give(tmp_path / "files", **{f"{key}__txt": answer}), "live")
    [report] = reports(warehouse).values()
    assert (report.assignment, report.text, report.status) == (key, answer, "ok")


def test_a_question_back_is_one(warehouse: Warehouse, tmp_path: Path) -> None:
    asks = "Could you please clarify which Mercury you mean?"
    take(warehouse, give(tmp_path / "files", **{f"{MERCURY}__md": asks}))
    assert reports(warehouse)[MERCURY].status == "clarification"


@pytest.mark.parametrize(
    ("path", "agent", "edition", "says"),
    [
        ("nowhere", "mine", "sample", "no such file or folder of reports"),
        ("empty", "mine", "sample", "has no reports; expected files that end in .md"),
        ("empty", None, "sample", "in a folder for each agent"),
        ("one.md", None, "sample", "name the report.s agent with --agent"),
        ("one.md", "mine", "bare", "bare has no assignments"),
    ],
)
def test_what_holds_no_reports_is_refused(
    warehouse: Warehouse, tmp_path: Path, path: str, agent: str | None, edition: str, says: str
) -> None:
    (tmp_path / "empty").mkdir()
    give(tmp_path, one__md=TEXT)
    warehouse.write(Change(Edition, [Edition(edition="bare", source="wlc")]))
    with pytest.raises(EditionError, match=says):
        match_reports(warehouse, tmp_path / path, edition, agent)
    with pytest.raises(UnknownName, match="no edition 'nowhere'"):
        match_reports(warehouse, tmp_path / "one.md", "nowhere", "mine")


def test_progress_is_told_file_by_file(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = give(tmp_path / "files", **{f"{MERCURY}__md": TEXT, f"{LIGHTHOUSE}__md": TEXT})
    told: list[tuple[str, int, int]] = []

    def on_progress(outcome: FileOutcome, done: int, total: int) -> None:
        told.append((outcome.path, done, total))

    matched = match_reports(warehouse, folder, "sample", "mine")
    import_reports(warehouse, matched, on_file=on_progress)
    assert told == [(f"{LIGHTHOUSE}.md", 1, 2), (f"{MERCURY}.md", 2, 2)]


def test_a_scan_keeps_its_pictures_when_another_pillow_writes_other_bytes(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = give(tmp_path / "files", **{f"{MERCURY}__tif": picture("TIFF")})
    take(warehouse, folder)
    before = warehouse.rows(ReportFile, "agent = 'mine'")
    assert [file.media_type for file in before] == ["image/tiff", "image/png"]

    def read_otherwise(name: str, content: bytes) -> ParsedDocument:
        document = read_document(name, content)
        [page] = document.pictures
        other = page.model_copy(update={"content": page.content + b"!"})
        return document.model_copy(update={"pictures": (other,)})

    monkeypatch.setattr("tasks.imports.reports.read_document", read_otherwise)
    assert outcomes(take(warehouse, folder)) == {f"{MERCURY}.tif": "unchanged"}
    assert warehouse.rows(ReportFile, "agent = 'mine'") == before
