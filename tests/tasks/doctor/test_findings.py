"""The doctor's checks: each finds what is wrong, says what to do, and keeps keys to itself."""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from email.utils import formatdate
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tasks.configuration.folders import PACKAGED
from tasks.doctor import machine
from tasks.doctor import network as checkup_reach
from tasks.doctor.checks import CHECKS, Check, Scope
from tasks.doctor.configuration import check_configuration, check_keys, check_models, check_operator
from tasks.doctor.finding import Finding, Found, count_by_status
from tasks.doctor.machine import check_disk, load_requirements
from tasks.doctor.network import (
    NamesInUse,
    ProbeResult,
    check_clock,
    check_endpoints,
    find_endpoints,
    find_names_in_use,
    printable_url,
)
from tasks.warehouse import lake
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.location import parse_location
from tests.servers.http import Request, Response
from tests.servers.serving import serving

SECRET = "a-key-that-nobody-may-see"
PROVIDERS = ("GEMINI", "OPENAI", "ANTHROPIC", "PERPLEXITY", "XAI", "DASHSCOPE")


SCOPE = Scope(
    where=parse_location("none.duckdb"), prefect_home=Path(), server=None, edition=None,
    offline=True, deep=False,
)  # fmt: skip


def by_check(group: str, findings: Iterable[Found]) -> dict[str, Finding]:
    """What becomes of the findings of a group's one check, by name."""
    (check,) = (each for each in CHECKS if each.group == group)
    found = list(check._replace(find=lambda scope: findings).run(SCOPE))
    by_name = {each.check: each for each in found}
    assert len(by_name) == len(found)
    return by_name


def look(*names: str) -> dict[str, Finding]:
    """What checks of these names find, each one thing."""
    found = [each for check in CHECKS if check.name in names for each in check.run(SCOPE)]
    return {each.check: each for each in found}


def test_checks_that_fail_themselves_are_findings_and_hold_up_no_others() -> None:
    def of_the_warehouse(scope: Scope) -> Iterator[Found]:
        yield Found("ok", "fine.")
        raise WarehouseError("It is gone.\nand more")

    def unexpected(scope: Scope) -> Iterator[Found]:
        raise KeyError("surprise")
        yield  # type: ignore[unreachable]

    first, second = Check("things", "first", of_the_warehouse).run(SCOPE)
    assert (first.check, second.check) == ("first", "things")
    assert (first.status, second.status, second.finding) == ("ok", "fail", "It is gone.")
    (third,) = Check("things", "first", unexpected).run(SCOPE)
    assert third.finding == "could not be checked (KeyError: 'surprise')."
    assert count_by_status([first, second, third]) == {"ok": 1, "warn": 0, "fail": 2, "skipped": 0}


def test_what_is_fine_needs_no_advice() -> None:
    def find(scope: Scope) -> Iterator[Found]:
        yield Found("ok", "fine.")
        yield Found("skipped", "not looked at.")
        yield Found("warn", "wrong.")
        yield Found("fail", "wrong.", "do that")

    found = Check("g", "c", find, "do this").run(SCOPE)
    assert [each.advice for each in found] == [None, None, "do this", "do that"]


class TestSoftware:
    @pytest.fixture
    def project(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
        def write(*dependencies: str, python: str = ">=3.11") -> None:
            listed = ", ".join(f'"{each}"' for each in dependencies)
            text = f'[project]\nrequires-python = "{python}"\ndependencies = [{listed}]\n'
            (tmp_path / "pyproject.toml").write_text(text)
            monkeypatch.setattr(machine, "ROOT", tmp_path)

        return write

    def test_what_this_project_wants_is_installed(self) -> None:
        found = look("python", "libraries", "extensions")
        assert {each.status for each in found.values()} == {"ok"}
        assert f"prefect {version('prefect')}" in found["libraries"].finding
        assert "ducklake" in found["extensions"].finding

    @pytest.mark.parametrize(
        ("dependency", "status", "said"),
        [
            ("duckdb==1.4.0", "fail", "duckdb is 1.5.5, required: ==1.4.0"),
            ("no-such-library>=1", "fail", "no-such-library is missing, required: >=1"),
            ("polars>=99", "warn", "required: >=99"),
            ("polars>=2", "ok", "all 1 match"),
            ('no-such-library; python_version < "3"', "ok", "all 1 match"),
        ],
    )
    def test_another_version_is_told_with_the_way_out(
        self, project: Callable[..., None], dependency: str, status: str, said: str
    ) -> None:
        project(dependency.replace('"', "'"))
        found = look("libraries")["libraries"]
        assert found.status == status
        assert said in found.finding
        assert (found.advice is None) == (status == "ok")

    def test_another_python_is_told(self, project: Callable[..., None]) -> None:
        project(python=">=4")
        found = look("python")["python"]
        assert (found.status, "required: >=4" in found.finding) == ("fail", True)

    def test_an_extension_that_is_not_there_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def lost(name: str) -> Path:
            raise WarehouseError(f"DuckDB's extension {name} is not there for version 9.")

        monkeypatch.setattr(lake, "extension_path", lost)
        found = look("extensions")["extensions"]
        assert (found.status, found.finding) == (
            "fail", "DuckDB's extension ducklake is not there for version 9.",
        )  # fmt: skip
        monkeypatch.setattr(lake, "extension_path", lambda name: Path(__file__))
        assert "cannot be loaded" in look("extensions")["extensions"].finding

    def test_without_the_extra_nothing_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def find(name: str) -> str | None:
            return None if name == "psycopg" or name.startswith("duckdb-ext") else version(name)

        monkeypatch.setattr(machine, "_find_version", find)
        found = look("libraries", "extensions")
        assert (found["libraries"].status, found["extensions"].status) == ("ok", "skipped")

    def test_without_the_project_file_what_was_installed_counts(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(machine, "ROOT", tmp_path)
        python, wanted = load_requirements()
        assert "prefect" in {requirement.name for requirement in wanted}
        assert "pytest" not in {requirement.name for requirement in wanted}
        assert python == ""


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(PACKAGED, tmp_path / "configs"))


class TestConfiguration:
    def test_ours_can_be_read(self) -> None:
        (found,) = check_configuration()
        assert found.status == "ok"
        n = sum(path.suffix in (".yaml", ".md") for path in PACKAGED.rglob("*"))
        assert f"{n} files" in found.finding

    @pytest.mark.parametrize(
        ("file", "text", "said"),
        [
            ("judges.yaml", "default: nobody\njudges: {}\n", "there is no 'nobody'"),
            ("web.yaml", "operator: [", "web.yaml"),
            ("protocols/wiki_fact.yaml", "name: 7\n", "wiki_fact.yaml"),
            ("rubrics/reader.yaml", "title: x\n", "reader.yaml"),
            ("prompts/wiki_fact/verify_claims.md", "{{ unclosed", "not a valid template"),
            ("another.yaml", "- a list\n", "expected a mapping"),
        ],
    )
    def test_a_broken_file_is_named(self, configs: Path, file: str, text: str, said: str) -> None:
        (configs / file).write_text(text)
        found = [each for each in check_configuration(configs) if each.status == "fail"]
        assert len(found) >= 1
        assert any(file in each.finding and said in each.finding for each in found)

    def test_every_broken_file_is_named_also_one_that_is_missing(self, configs: Path) -> None:
        (configs / "web.yaml").write_text("such: a key\n")
        (configs / "prices.yaml").unlink()
        found = " ".join(each.finding for each in check_configuration(configs))
        assert "web.yaml: unknown key `such`" in found
        assert "prices.yaml: there is no such file" in found

    def test_rubrics_of_ones_own_are_read_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("EVERGREEN_RUBRICS", str(tmp_path / "mine.yaml"))
        (found,) = check_configuration()
        assert f"{tmp_path / 'mine.yaml'}: there is no such file" in found.finding

    def test_wikimedia_wants_to_know_who_asks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("EVERGREEN_OPERATOR", raising=False)
        (found,) = check_operator()
        assert found.status == "warn"
        assert found.advice
        assert "EVERGREEN_OPERATOR" in found.advice
        monkeypatch.setenv("EVERGREEN_OPERATOR", "somebody@example.org")
        (found,) = check_operator()
        assert (found.status, "somebody" in found.finding) == ("ok", False)

    def test_what_a_schedule_asks_is_required_and_what_was_asked_is_used(
        self, configs: Path
    ) -> None:
        refresh = configs / "refresh.yaml"
        text = refresh.read_text()
        refresh.write_text(text.replace("judge: null", "judge: gpt-5.5", 1))
        required = {"offline", "gpt-5.5", "sources_baseline"}
        assert find_names_in_use(None, configs).required == required
        schedule = ("schedule", "  cron", "  timezone")
        lines = refresh.read_text().splitlines()
        without = "\n".join(line for line in lines if not line.startswith(schedule))
        refresh.write_text(without)
        assert find_names_in_use(None, configs).required == {"offline"}
        refresh.write_text("no: settings")
        assert find_names_in_use(None, configs).required == {"offline"}


def no_blocks(name: str) -> bool | None:
    return False


class TestKeys:
    @pytest.fixture(autouse=True)
    def unset(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in PROVIDERS:
            monkeypatch.delenv(f"{name}_API_KEY", raising=False)

    def test_a_missing_key_is_as_bad_as_much_depends_on_it(self) -> None:
        used = NamesInUse(required=frozenset({"gpt-5.5"}), used=frozenset({"gemini_deep_research"}))
        found = by_check("keys", check_keys(used, no_blocks))
        assert {name: each.status for name, each in found.items()} == {
            "OPENAI_API_KEY": "fail", "GEMINI_API_KEY": "warn", "ANTHROPIC_API_KEY": "skipped",
            "DASHSCOPE_API_KEY": "skipped", "PERPLEXITY_API_KEY": "skipped",
            "XAI_API_KEY": "skipped", "DEEPSEEK_API_KEY": "skipped",
            "OPENROUTER_API_KEY": "skipped",
        }  # fmt: skip
        assert "gpt-5.5" in found["OPENAI_API_KEY"].finding
        assert found["OPENAI_API_KEY"].advice
        assert found["XAI_API_KEY"].advice is None

    def test_a_key_that_is_set_is_not_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        monkeypatch.setenv("GEMINI_API_KEY", "   ")
        findings = list(check_keys(NamesInUse(), no_blocks))
        found = by_check("keys", findings)
        assert found["OPENAI_API_KEY"].status == "ok"
        assert found["GEMINI_API_KEY"].status == "skipped", "white space is no key"
        said = str(findings)
        assert SECRET not in said
        assert str(len(SECRET)) not in said

    @pytest.mark.parametrize(
        ("there", "status"), [(True, "ok"), (None, "warn"), (False, "skipped")]
    )
    def test_a_key_may_lie_in_a_block_of_the_server(
        self, configs: Path, there: bool | None, status: str
    ) -> None:
        judges = configs / "judges.yaml"
        judges.write_text(
            judges.read_text().replace("key_env: OPENAI_API_KEY", "key_block: my-key", 1)
        )
        asked: list[str] = []

        def blocks(name: str) -> bool | None:
            asked.append(name)
            return there

        found = by_check("keys", check_keys(NamesInUse(), blocks, configs))
        assert asked == ["my-key"]
        assert found["block my-key"].status == status


class TestModels:
    @pytest.mark.parametrize(
        ("used", "required", "today", "status", "said"),
        [
            ((), (), date(2026, 11, 22), "warn", "gpt-5 retires on 2026-12-11, in 19 days"),
            (("gpt-5",), (), date(2026, 11, 22), "warn", "gpt-5 retires on 2026-12-11"),
            (("gpt-5",), (), date(2026, 12, 11), "warn", "gpt-5 was retired on 2026-12-11"),
            ((), ("gpt-5",), date(2026, 12, 11), "fail", "gpt-5 was retired"),
            (
                (),
                ("gpt-5",),
                date(2026, 12, 10),
                "warn",
                "2026-12-11, tomorrow; its successor is gpt-6.1-sol",
            ),
            ((), ("claude_sonnet_5_5",), date(2026, 10, 1), "ok", "none retires within 30 days"),
            ((), (), date(2026, 10, 1), "ok", "none retires within 30 days"),
            ((), (), date(2027, 3, 1), "ok", "none retires within 30 days"),
        ],
    )
    def test_a_model_that_ends_is_told_in_time(
        self, used: tuple[str, ...], required: tuple[str, ...], today: date, status: str, said: str
    ) -> None:
        (check,) = (each for each in CHECKS if each.name == "models")
        in_use = NamesInUse(frozenset(required), frozenset(used))
        (found,) = check._replace(find=lambda scope: check_models(in_use, today)).run(SCOPE)
        assert found.status == status
        assert said in found.finding
        assert (found.advice is None) == (status == "ok")


@pytest.fixture
def outside() -> Iterator[Any]:
    """A server whose answers have its `status`, come `late`, and are dated `ahead` of now."""
    server: Any = SimpleNamespace(status=200, late=0.0, ahead=0.0, asked=[])

    def answer(request: Request) -> Response:
        server.asked.append(request)
        dated = (("Date", formatdate(time.time() + server.ahead, usegmt=True)),)
        return Response(server.status, headers=dated, delay_seconds=server.late)

    with serving(answer) as server.url:
        yield server


class TestReach:
    @pytest.mark.parametrize("status", [200, 301, 401, 404, 500])
    def test_any_answer_is_one(self, outside: Any, status: int) -> None:
        outside.status = status
        found = by_check("endpoints", check_endpoints({f"{outside.url}/v1": ["a judge"]}))[
            outside.url
        ]
        assert found.status == "ok"
        assert f"HTTP {status}" in found.finding
        assert "a judge" in found.finding

    def test_nothing_secret_is_sent_or_shown(
        self, outside: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        place = outside.url.removeprefix("http://")
        url = f"http://user:{SECRET}@{place}/v1?key={SECRET}"
        (found, _) = check_endpoints({url: ["a judge"]})
        assert found.check == outside.url
        assert SECRET not in str(found)
        (asked,) = outside.asked
        assert asked.target == "/v1"
        assert SECRET not in str(asked.headers)
        assert "authorization" not in asked.headers

    def test_who_does_not_answer_is_told(
        self, outside: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(checkup_reach, "ANSWER_SECONDS", 0.2)
        outside.late = 1.0
        found = by_check(
            "endpoints",
            check_endpoints({
                f"{outside.url}/slow": ["slow"],
                "http://127.0.0.1:9/closed": ["closed"],
                "http://nowhere.invalid/": ["nameless"],
                "ftp://example.org/": ["strange"],
            }),
        )  # fmt: skip
        clock_said = found.pop("clock")
        assert {each.status for each in found.values()} == {"fail"}
        assert "no answer within" in found[outside.url].finding
        assert all(each.advice for each in found.values())
        assert clock_said.status == "skipped"

    def test_a_server_that_sends_a_byte_at_a_time_is_given_up(
        self, outside: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(checkup_reach, "WHOLE_SECONDS", 0.2)
        outside.late = 1.0
        found = by_check("endpoints", check_endpoints({outside.url: ["slow"]}))[outside.url]
        assert "no answer within 0 s" in found.finding

    @pytest.mark.parametrize(
        ("ahead", "status", "said"),
        [(0, "ok", "within"), (-60, "warn", "60 s ahead of"), (60, "warn", "60 s behind")],
    )
    def test_the_clock_is_held_against_theirs(
        self, outside: Any, monkeypatch: pytest.MonkeyPatch, ahead: int, status: str, said: str
    ) -> None:
        monkeypatch.setattr(checkup_reach, "LOOPBACK", set())
        outside.ahead = ahead
        found = by_check("endpoints", check_endpoints({outside.url: ["a judge"]}))["clock"]
        assert found.status == status
        # The header counts whole seconds, and the answer takes its time.
        assert said in found.finding.replace("59 s", "60 s").replace("61 s", "60 s")

    def test_one_wrong_clock_outside_is_not_ours(self) -> None:
        reached = [
            ProbeResult("https://a", skew_seconds=-900),
            ProbeResult("https://b", skew_seconds=0.4),
        ]
        assert check_clock(reached).status == "ok"
        assert check_clock([*reached[:1]]).status == "warn"
        assert check_clock([ProbeResult("https://a", skew_seconds=5.1)]).status == "warn"
        assert check_clock([ProbeResult("https://a", skew_seconds=-5.0)]).status == "ok"

    def test_a_clock_on_this_machine_says_nothing(self, outside: Any) -> None:
        outside.ahead = 900
        assert (
            by_check("endpoints", check_endpoints({outside.url: ["x"]}))["clock"].status
            == "skipped"
        )

    def test_who_can_be_asked_is_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in PROVIDERS:
            monkeypatch.delenv(f"{name}_API_KEY", raising=False)
            monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
        for name in ("EVERGREEN_LOCAL_URL", "EVERGREEN_LOCAL_AGENT_URL", "GOOGLE_GEMINI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        wiki = "https://en.wikipedia.org/w/api.php"
        assert set(find_endpoints(NamesInUse())) == {wiki}
        assert set(find_endpoints(NamesInUse(used=frozenset({"local"})))) == {
            wiki,
            "http://127.0.0.1:8000/v1",
        }
        monkeypatch.setenv("EVERGREEN_LOCAL_URL", "http://10.0.0.1/v1")
        assert set(find_endpoints(NamesInUse())) == {wiki, "http://10.0.0.1/v1"}
        monkeypatch.delenv("EVERGREEN_LOCAL_URL")
        for name in ("OPENAI", "GEMINI", "ANTHROPIC"):
            monkeypatch.setenv(f"{name}_API_KEY", SECRET)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "https://proxy.example.org")
        found = find_endpoints(NamesInUse())
        assert set(found) == {
            wiki, "https://api.openai.com/v1", "https://proxy.example.org",
            "https://api.anthropic.com",
        }  # fmt: skip
        assert "openai_gpt_5_5" in found["https://api.openai.com/v1"]
        assert "gpt-5.5" in found["https://api.openai.com/v1"]

    def test_of_an_address_scheme_host_and_port_are_shown(self) -> None:
        assert printable_url("https://u:p@[::1]:8443/v1?key=x#y") == "https://[::1]:8443"
        assert printable_url("https://example.org/v1") == "https://example.org"


class TestDisk:
    @pytest.mark.parametrize(
        ("free", "files", "status"),
        [
            (50e9, 0, "ok"),
            (2.1e9, 0, "ok"),
            (1.9e9, 0, "warn"),
            (0.4e9, 0, "fail"),
            (50e9, 1_000, "warn"),
        ],
    )
    def test_room_is_wanted_for_two_copies_at_least(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, files: int, status: str
    ) -> None:
        usage = SimpleNamespace(free=int(free), total=100 * 10**9)
        monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
        names = SimpleNamespace(f_files=files, f_favail=files)
        monkeypatch.setattr(os, "statvfs", lambda folder: names)
        (found,) = check_disk(parse_location(tmp_path / "w.duckdb"), [tmp_path])
        assert found.status == status
        assert ("inodes" in found.finding) == bool(files)

    def test_a_large_warehouse_wants_more(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usage = SimpleNamespace(free=3 * 10**9, total=100 * 10**9)
        monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
        with (tmp_path / "w.duckdb").open("wb") as file:
            file.truncate(2 * 10**9)
        (found,) = check_disk(parse_location(tmp_path / "w.duckdb"), [])
        assert found.status == "warn"
        assert found.advice
        assert "4.0 GB" in found.advice

    def test_folders_that_are_not_there_yet_count_by_where_they_will_be(
        self, tmp_path: Path
    ) -> None:
        found = list(
            check_disk(parse_location(tmp_path / "a" / "b" / "w.duckdb"), [tmp_path / "c"])
        )
        assert [each.check for each in found] == [str(tmp_path)]
