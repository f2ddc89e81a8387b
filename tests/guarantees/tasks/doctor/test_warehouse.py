"""What the doctor finds in a warehouse: who has it, what is broken in it, what is left to do."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.doctor.finding import Found
from tasks.doctor.warehouse import (
    BROKEN_REFERENCES,
    check_archive,
    check_exports,
    check_tables,
    open_and_check,
)
from tasks.doctor.work import check_batches, check_editions, check_jobs, check_next_month
from tasks.editions.refresh import load_refresh
from tasks.warehouse.calls import BatchJob
from tasks.warehouse.file_lock import lock_warehouse
from tasks.warehouse.jobs import Job
from tasks.warehouse.location import parse_location
from tasks.warehouse.results import Cell, Verdict
from tasks.warehouse.rows import Citation, Edition, utc_now
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.annotated import sample_warehouse
from tests.tasks.backed_up import keep_file, keep_page
from tests.tasks.made_rows import a_row

pytestmark = pytest.mark.file_only


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return sample_warehouse(tmp_path)


@pytest.fixture
def store(path: Path) -> Iterator[Warehouse]:
    with open_warehouse(path) as opened:
        yield opened


def look(path: Path) -> tuple[bool, dict[str, Found]]:
    with open_and_check(parse_location(path)) as (source, found):
        return source is not None, {each.check: each for each in found}


def one(findings: Iterator[Found]) -> Found:
    (found,) = findings
    return found


def change(path: Path, sql: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(sql)


class TestOpening:
    def test_what_is_there_is_counted(self, path: Path) -> None:
        there, found = look(path)
        assert there
        assert {each.status for each in found.values()} == {"ok"}
        assert "3 articles, 9 reports" in found["opens"].finding
        assert "no process is using it" in found["owner"].finding

    def test_nothing_is_no_failure(self, tmp_path: Path) -> None:
        there, found = look(tmp_path / "none.duckdb")
        assert not there
        assert found["there"].status == "skipped"
        assert "there is no warehouse" in found["there"].finding
        assert not (tmp_path / "none.duckdb").exists()

    @pytest.mark.parametrize(
        ("sql", "said"),
        [
            ("UPDATE warehouse_info SET schema_version = 99", "schema version 99"),
            ("UPDATE warehouse_info SET schema_version = 3", "schema version 3"),
            ("CREATE TABLE other (n INTEGER)", "not an Evergreen warehouse"),
            (None, "backup"),
        ],
    )
    def test_what_is_no_warehouse_of_ours_fails_and_says_what_to_do(
        self, path: Path, sql: str | None, said: str
    ) -> None:
        if sql is None or "CREATE" in sql:
            path.unlink()
        if sql is None:
            path.write_bytes(b"no database" * 1000)
        else:
            change(path, sql)
        there, found = look(path)
        assert (there, found["opens"].status) == (False, "fail")
        assert said in f"{found['opens'].finding} {found['opens'].advice}"

    def test_who_owns_it_is_told_and_its_last_export_is_read(self, path: Path) -> None:
        with lock_warehouse(path):
            there, found = look(path)
        assert not there
        assert found["owner"].status == "ok"
        assert "in use by pid" in found["owner"].finding
        assert (found["opens"].status, "no snapshot yet" in found["opens"].finding) == (
            "warn",
            True,
        )
        with open_warehouse(path) as store:
            export_edition(store, "sample")
        with lock_warehouse(path):
            there, found = look(path)
        assert there
        assert found["opens"].status == "skipped"
        assert "reading its snapshot" in found["opens"].finding
        assert "9 reports" in found["opens"].finding

    def test_a_process_that_has_it_for_days_is_to_be_looked_at(self, path: Path) -> None:
        with lock_warehouse(path):
            holder = path.with_name(f"{path.name}.holder.json")
            since = utc_now() - timedelta(days=2)
            text = holder.read_text()
            before = text[text.index('"since":"') + 9 :].split('"')[0]
            holder.write_text(text.replace(before, f"{since:%Y-%m-%d %H:%M:%S} UTC"))
            _, found = look(path)
            assert found["owner"].status == "warn"
            assert found["owner"].advice
            holder.write_text("torn")
            _, found = look(path)
            assert found["owner"].status == "ok"


class TestTables:
    def test_a_sound_warehouse_is_found_sound(self, path: Path) -> None:
        with open_and_check(parse_location(path)) as (source, _):
            assert source
            for deep in (False, True):
                found = list(check_tables(source, deep))
                assert [each.status for each in found] == ["ok", "ok"]
                assert ("every row was read" in found[0].finding) is deep

    def test_keys_that_are_there_twice_are_counted(self, path: Path) -> None:
        change(path, "INSERT INTO facts FROM facts LIMIT 2")
        change(path, "INSERT INTO editions FROM editions")
        with open_and_check(parse_location(path)) as (source, _):
            assert source
            found = next(check_tables(source, False))
        assert found.status == "fail"
        assert found.finding == "duplicates: 1 in editions, 2 in facts."

    @pytest.mark.parametrize("what", list(BROKEN_REFERENCES))
    def test_rows_without_what_they_rest_on_are_counted(self, store: Warehouse, what: str) -> None:
        store.write(*BREAKING[what])
        if not BREAKING[what]:
            table = "reports" if what.startswith("claims") else "assignments"
            store._writer._connection.execute(f"DELETE FROM {table}")
        found = [each for each in check_tables(store, False) if each.check == "references"]
        assert any(each.finding.endswith(f" {what}.") for each in found)
        assert all(each.status == "fail" for each in found)

    def test_a_block_that_is_not_what_it_was_is_found_by_reading_deep(self, path: Path) -> None:
        with open_warehouse(path) as store:
            store._writer._connection.execute(
                "INSERT INTO facts SELECT 'e', 'a', i, md5(i::VARCHAR) || md5((i * 7)::VARCHAR), "
                "NULL, NULL, 'offline' FROM range(100000) AS r(i)"
            )
        content = bytearray(path.read_bytes())
        late = len(content) * 3 // 4  # past what the empty warehouse is made of
        content[late : late + 200_000] = bytes(200_000)
        path.write_bytes(content)
        with open_and_check(parse_location(path)) as (source, _):
            assert source
            (found,) = check_tables(source, True)
        assert (found.check, found.status) == ("rows", "fail")
        assert "facts cannot be read" in found.finding


KEY = {"edition": "sample", "agent": "a", "assignment": "x"}
VERDICT = a_row(Verdict, **KEY)
BREAKING: dict[str, list[Change]] = {
    "verdicts without their cell": [Change(Verdict, [VERDICT])],
    "judged cells with a wrong number of verdicts": [
        Change(Cell, [a_row(Cell, **KEY, n_verdicts=2)]),
    ],
    "verdicts without their call in the ledger": [
        Change(Cell, [a_row(Cell, **KEY, n_verdicts=1)]),
        Change(Verdict, [VERDICT.model_copy(update={"call_id": "never made"})]),
    ],
    "claims without their report": [],
    "citations without their claim": [
        Change(Citation, [a_row(Citation, **KEY, number=99)]),
    ],
    "reports without their assignment": [],
    "assignments without their edition": [
        Change(Edition, [], replacing={"edition": "sample"}),
    ],
}  # fmt: skip
"""What breaks each; nothing: rows of the table it rests on are deleted."""


class TestArchive:
    def look(self, path: Path, deep: bool = False) -> dict[str, Found]:
        with open_and_check(parse_location(path)) as (source, _):
            assert source
            return {f.check: f for f in check_archive(source, parse_location(path), deep)}

    def test_bytes_are_unpacked_a_sample_of_them_or_all(self, path: Path) -> None:
        assert self.look(path) == {}
        with open_warehouse(path) as store:
            for n in range(30):
                keep_page(store, f"https://example.org/{n}", f"Page {n}".encode())
            keep_file(store, "a", b"a file")
        found = self.look(path)
        assert found["pages"].finding.startswith("25 of 30 unpacked")
        assert found["files"].finding.startswith("1 of 1 unpacked")
        assert self.look(path, deep=True)["pages"].finding.startswith("30 of 30")

    def test_bytes_that_are_lost_or_changed_fail(self, path: Path) -> None:
        with open_warehouse(path) as store:
            keep_page(store, "https://example.org/1", b"kept")
            keep_page(store, "https://example.org/2", b"to be lost")
            keep_file(store, "a", b"to be changed")
        lost = sorted((path.parent / "pages").rglob("*.gz"))[0]
        lost.unlink()
        (file,) = (each for each in (path.parent / "files").rglob("*") if each.is_file())
        file.write_bytes(b"changed")
        found = self.look(path)
        assert {each.status for each in found.values()} == {"fail"}
        assert found["pages"].finding.startswith("1 of 2 checked are missing or damaged")
        assert str(file) in found["files"].finding


def test_an_export_that_is_behind_the_tables_is_told(path: Path) -> None:
    with open_warehouse(path) as store:
        export_edition(store, "sample")
        found = one(check_exports(store, parse_location(path)))
        assert found.status == "ok"
        store.write(*BREAKING["judged cells with a wrong number of verdicts"])
        store.write(Change(Verdict, [VERDICT]))
        found = one(check_exports(store, parse_location(path)))
    assert found.status == "warn"
    assert "since then verdicts have changed" in found.finding
    assert found.advice == "evergreen evaluate --edition sample brings it up to date."


class TestWork:
    def job(self, name: str, state: Any, hours: float = 0) -> Job:
        began = utc_now() - timedelta(hours=hours)
        of = {"edition": "sample", "assignment": name}
        return a_row(Job, **of, job=name, state=state, created_at=began)

    def test_jobs_that_a_person_must_decide_about_are_told(self, store: Warehouse) -> None:
        assert one(check_jobs(store, None)).status == "ok"
        jobs = [self.job("1", "lost"), self.job("2", "failed"), self.job("3", "failed")]
        store.write(Change(Job, [*jobs, self.job("4", "done"), self.job("5", "abandoned")]))
        failed, lost = check_jobs(store, None)
        assert one(check_jobs(store, "another")).status == "ok"
        assert (failed.status, failed.finding[:8]) == ("warn", "2 failed")
        assert (lost.status, lost.finding[:6]) == ("warn", "1 lost")
        assert lost.advice
        assert "--remote-id" in lost.advice

    def test_jobs_under_way_are_counted_and_old_ones_told(self, store: Warehouse) -> None:
        store.write(Change(Job, [self.job("1", "running", 1), self.job("2", "answered", 23)]))
        found = one(check_jobs(store, None))
        assert (found.status, found.finding[:13]) == ("ok", "2 in progress")
        store.write(Change(Job, [self.job("3", "overdue", 25)]))
        assert one(check_jobs(store, None)).status == "warn"

    def test_a_month_that_would_get_nowhere_is_told(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in (
            "EVERGREEN_OPERATOR",
            "PERPLEXITY_API_KEY",
            "DASHSCOPE_API_KEY",
            "GEMINI_API_KEY",
        ):
            monkeypatch.setenv(name, "k")
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        settings = load_refresh()
        said = {
            ("lexical_baseline",): "no pages to write from",
            ("lexical_baseline", "qwen_deep_research"): "has no `price`",
            ("perplexity_high", "openai_gpt_5_5"): "has no key",
            (
                "perplexity_high",
                "lexical_baseline",
            ): "with perplexity_high, lexical_baseline, judged",
        }
        for agents, words in said.items():
            changed = settings.model_copy(update={"agents": agents, "budget_usd": 50.0})
            monkeypatch.setattr("tasks.doctor.work.load_refresh", lambda chosen=changed: chosen)
            with open_warehouse(path) as store:
                found = one(check_next_month(store))
            assert words in found.finding
            assert found.status == ("ok" if words.startswith("with") else "warn")

    def test_the_month_to_come_is_that_of_the_schedules_next_moment(
        self, store: Warehouse, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("EVERGREEN_OPERATOR", "somebody@example.org")
        monkeypatch.setenv("PERPLEXITY_API_KEY", "k")
        settings = load_refresh().model_copy(update={"agents": ("perplexity_high",)})
        monkeypatch.setattr("tasks.doctor.work.load_refresh", lambda: settings)
        monkeypatch.setattr(
            "tasks.doctor.work.utc_now", lambda: datetime(2026, 12, 1, 7, tzinfo=UTC)
        )
        found = one(check_next_month(store))
        assert found.finding.startswith("2027-01 will start on 2027-01-01 06:00 UTC with ")

    def test_batches_that_stay_open_are_told(self, store: Warehouse) -> None:
        def batch(name: str, state: Any, hours: float) -> BatchJob:
            return BatchJob(
                job=name, provider="p", model="m", judge="gemini-3.8-flash", state=state,
                requests="[]", n_requests=40, created_at=utc_now() - timedelta(hours=hours),
            )  # fmt: skip

        store.write(Change(BatchJob, [batch("1", "done", 99)]))
        assert list(check_batches(store)) == []
        store.write(Change(BatchJob, [batch("2", "running", 2), batch("3", "creating", 1)]))
        found = one(check_batches(store))
        assert found.status == "ok"
        assert found.finding.startswith("2 of gemini-3.8-flash, with 80 calls, open")
        store.write(Change(BatchJob, [batch("4", "running", 25)]))
        assert one(check_batches(store)).status == "warn"

    def test_what_is_left_of_an_edition_is_told(self, store: Warehouse) -> None:
        found = one(check_editions(store, "sample"))
        assert found.status == "ok"
        assert "pending: 3 facts" in found.finding or "verdicts wiki_fact" in found.finding
        store.write(Change(Job, [self.job("1", "failed")]))
        found = one(check_editions(store, None))
        assert found.status == "warn"
        assert "failed: 1 reports" in found.finding

    def test_of_many_editions_the_newest_are_looked_through(self, store: Warehouse) -> None:
        later = [
            Edition(edition=f"e{n}", source="wlc", imported_at=utc_now() + timedelta(days=n))
            for n in range(1, 5)
        ]
        store.write(Change(Edition, later))
        found = list(check_editions(store, None))
        assert [each.check for each in found] == ["e4", "e3", "e2", ""]
        assert found[-1].finding.startswith("2 older editions")
