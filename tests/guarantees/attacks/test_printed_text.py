"""Whoever writes names and texts that are printed."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.text import Text

from flows.cli import main as command
from flows.display import console
from flows.display.formats import format_json
from tasks.agents.registry import load_agents
from tasks.benchmarks.catalogue import read_agents
from tasks.benchmarks.layout import Layout
from tasks.configuration.errors import ConfigurationError
from tasks.foreign_text import HiddenCharacters
from tasks.imports.answers import import_answers
from tasks.imports.matching import match_reports
from tasks.imports.reports import import_reports
from tasks.imports.wlc import import_edition
from tasks.site.environment import render_page
from tasks.warehouse.rows import Agent
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.scored_articles import COVERAGE, TABLES_OF_SCORES, articles, scored

ACTING = "\x1b[31m\x1b]0;owned\x07\x9b2J\r\x08\u202egpj.\u2066\u200b"
AGENT = f"gpt{ACTING}[bold red] :warning: [/]"
SEEN = re.compile(r"(⟨U\+001B⟩|\\x1b)\[31m.*(⟨U\+0007⟩|\\x07)", re.DOTALL)
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
Evergreen = Callable[..., str]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with names that an import of today refuses."""
    path = tmp_path_factory.mktemp("hostile") / "w.duckdb"
    with open_warehouse(path) as opened:
        articles(opened, (f"c{ACTING}", "d") * 3)
        opened.write(Change(Agent, [Agent(edition="e", agent=AGENT, name=AGENT)]))
        scored(opened, {COVERAGE: {AGENT: (0.5, 0.2, 0.4, 1.0, 0.1, 0.3), "other": (0.1,) * 6}})
    return path


@pytest.fixture
def evergreen(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Evergreen:
    """The command in this process: all that it writes to the terminal."""
    monkeypatch.setattr(console.STDERR, "quiet", False)

    def call(*arguments: str | Path) -> str:
        monkeypatch.setattr(sys, "argv", ["evergreen", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit):
            command.main()
        said = capfd.readouterr()
        return said.out + said.err

    return call


@pytest.mark.parametrize(
    "arguments",
    [
        *TABLES_OF_SCORES,
        ("sql", "SELECT agent FROM agents"),
        ("explain", "nobody"),
        ("sql", f"SELECT '{ACTING}"),
        ("leaderboard", "--edition", AGENT),
    ],
    ids=lambda given: " ".join(given)[:24],
)
def test_no_command_prints_control_sequences(
    evergreen: Evergreen, warehouse: Path, arguments: tuple[str, ...]
) -> None:
    """A command prints no control sequence of a name, a text or an error, but its code points."""
    printed = evergreen(*arguments, "--warehouse", warehouse)
    assert not UNSEEN.search(printed)
    if arguments[0] != "explain":  # its error quotes names only where they are similar
        assert SEEN.search(printed)


def test_no_console_takes_text_for_markup() -> None:
    """Text is no markup: neither styles, links nor emoji come of it."""
    to = console.VisibleConsole(file=StringIO(), force_terminal=True, highlight=False)
    said = "[bold]gone[/] [link=https://evil.invalid]x[/link] :warning:"
    to.print(said)
    assert to.file.getvalue() == f"{said}\n"  # type: ignore[attr-defined]


def test_no_renderable_prints_control_sequences() -> None:
    """What others lay out, such as progress bars, prints no control sequences either."""
    to = console.VisibleConsole(file=StringIO(), width=200)
    to.print(Text(ACTING))
    assert not UNSEEN.search(to.file.getvalue())  # type: ignore[attr-defined]


def test_json_escapes_what_nobody_sees() -> None:
    """JSON on a terminal is data: it escapes what acts, and keeps every value."""
    written = format_json({"agent": AGENT})
    assert not UNSEEN.search(written)
    assert json.loads(written) == {"agent": AGENT}


def test_an_unforeseen_error_is_printed_visibly(
    evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unforeseen error prints its traceback without acting on the terminal."""

    def fail() -> None:
        raise RuntimeError(ACTING)

    monkeypatch.setattr(command, "app", fail)
    printed = evergreen()
    assert "Traceback" in printed
    assert not UNSEEN.search(printed)


def test_an_error_of_an_option_is_printed_visibly(evergreen: Evergreen, warehouse: Path) -> None:
    """An error of an option prints no control sequence."""
    to = f"nowhere{ACTING}/x.json"
    printed = evergreen("analyse", "--edition", "e", "--output", to, "--warehouse", warehouse)
    assert "cannot write to" in printed
    assert not UNSEEN.search(printed)


def test_the_site_shows_what_nobody_sees() -> None:
    """A page of the site shows control and direction characters by their code points."""

    class Site:
        title = edition = licence = AGENT
        notices = pages = ()

    shown = render_page("differences.html", site=Site(), here="", read=AGENT, tables=[])
    assert SEEN.search(shown)
    assert not UNSEEN.search(shown)


def _edition(folder: Path, agent: str = "a", article: str = "X", shown: str = "A") -> Path:
    reports = folder / "test_data" / agent / "md_data"
    texts = folder / "wiki_data/cleaned_data/article"
    for made in (reports, texts):
        made.mkdir(parents=True)
    (folder / "wiki_data/ga_1.csv").write_text("title,url\nX,https://example.org/x\n", "utf-8")
    (texts / "X.md").write_text("A text.", "utf-8")
    (reports / f"{article}.md").write_text("A report.", "utf-8")
    agencies = {"agencies": {agent: {"name": shown}}}
    (folder / "test_data/agencies.json").write_text(json.dumps(agencies), "utf-8")
    return folder


@pytest.mark.parametrize("part", ["agent", "article", "shown"])
def test_an_edition_with_hidden_names_is_refused(tmp_path: Path, part: str) -> None:
    """An import of an edition refuses names of agents and files that hide characters."""
    folder = _edition(tmp_path / "files", **{part: "x\u202e\x1b"})
    with (
        open_warehouse(tmp_path / "w.duckdb") as opened,
        pytest.raises(HiddenCharacters, match=r"x⟨U\+202E⟩⟨U\+001B⟩"),
    ):
        import_edition(opened, folder, "e")
    plain = _edition(tmp_path / "plain")
    with (
        open_warehouse(tmp_path / "w.duckdb") as opened,
        pytest.raises(HiddenCharacters, match=r"The edition e⟨U\+200B⟩"),
    ):
        import_edition(opened, plain, "e\u200b")
    assert read_agents(Layout.open(plain), "e")


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Warehouse]:
    path = tmp_path / "asked.duckdb"
    with open_warehouse(path) as opened:
        articles(opened, ("c",))
        yield opened


def test_a_report_with_a_hidden_name_is_left_out(asked: Warehouse, tmp_path: Path) -> None:
    """An import of reports leaves out a file whose name hides characters, and shows them."""
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "x0\u202e\x1b.md").write_text("A report.", "utf-8")
    matched = match_reports(asked, folder, "e", "a")
    (outcome,) = import_reports(asked, matched, accept_guesses=True).outcomes
    assert (outcome.outcome, outcome.path) == ("left out", "x0⟨U+202E⟩⟨U+001B⟩.md")
    assert "control or invisible characters" in " ".join(outcome.remarks)
    assert asked.value("SELECT count(*) FROM reports") == 0


def test_an_agent_with_a_hidden_name_is_refused(asked: Warehouse, tmp_path: Path) -> None:
    """An import of reports or answers refuses an agent whose name hides characters."""
    folder = tmp_path / "a\u200b"
    folder.mkdir()
    (folder / "x0.md").write_text("A report.", "utf-8")
    for refused in (
        lambda: match_reports(asked, tmp_path, "e", None),
        lambda: match_reports(asked, folder, "e", "a\u200b"),
        lambda: import_answers(asked, folder, "e", "a\u200b"),
    ):
        with pytest.raises(HiddenCharacters, match=r"agent a⟨U\+200B⟩"):
            refused()


def test_a_configured_agent_with_a_hidden_name_is_refused(tmp_path: Path) -> None:
    """agents.yaml refuses an agent whose id or name hides characters."""
    for key, name in (("a\\u202e", "A"), ("a", "A\\u202e")):
        entry = f'clarification_reply: "go on"\nagents:\n  "{key}": {{name: "{name}"}}\n'
        (tmp_path / "agents.yaml").write_text(entry, "utf-8")
        with pytest.raises(ConfigurationError, match=r"(?i)a⟨U\+202E⟩"):
            load_agents(tmp_path)
