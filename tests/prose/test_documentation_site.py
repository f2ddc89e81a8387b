"""The documentation's site is built, with every page in its navigation and no broken link."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import LlmJudgeEntry
from tests.docs.built_links import find_broken_links
from tests.docs.commands_page import list_commands
from tests.docs.commands_page import render_page as render_commands
from tests.docs.configs_page import FILES, PARAMETERS, list_models, read_field_texts
from tests.docs.site import DOCS, GENERATED, ROOT, ROOT_PAGES, adapt_page, build_site

INTERNAL = {"tasks.judges.llm.prompts", "tasks.judges.offline.weights"}
"""Modules whose files nobody edits by hand: prompts' headers and fitted weights."""


def test_the_site_has_no_broken_link(tmp_path: Path) -> None:
    assert build_site(tmp_path / "docs") == []


def test_every_page_is_in_the_navigation() -> None:
    navigation = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(walk(navigation)) == sorted(pages | {*GENERATED} | {*ROOT_PAGES.values()})


def walk(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    for inner in entry if isinstance(entry, list) else getattr(entry, "values", list)():
        yield from walk(inner)


def test_every_command_has_a_section() -> None:
    page = render_commands()
    missing = [name for name, _ in list_commands() if f"\n### evergreen {name}\n" not in page]
    assert missing == [""], "all but `evergreen` itself"


def test_every_model_of_a_configuration_is_on_its_page() -> None:
    shown = {
        model for file in (*FILES.values(), *PARAMETERS.values()) for model in list_models(file)
    }
    left = [model.__name__ for model in subclasses(ConfigModel)
            if model not in shown and model.__module__ not in INTERNAL
            and model.__module__.startswith("tasks.")]  # fmt: skip
    assert left == []


def subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in model.__subclasses__():
        yield each
        yield from subclasses(each)


def test_docstrings_of_inherited_keys_are_found() -> None:
    texts = read_field_texts(LlmJudgeEntry)
    assert "answers_as" in texts
    assert "key_env" in texts


@pytest.mark.parametrize(
    ("link", "adapted"),
    [
        ("[a](../how-to/b.md#c)", "[a](../how-to/b.md#c)"),
        ("[a](../../README.md)", "[a](../index.md)"),
        ("[a](../../SECURITY.md#promises)", "[a](../project/security.md#promises)"),
        ("[`x.yaml`](../../configs/x.yaml)", "`x.yaml`"),
        ("[a](https://example.org)", "[a](https://example.org)"),
        ("`[a](../../configs/x.yaml)`", "`[a](../../configs/x.yaml)`"),
        ("![a](../images/b.png)", "![a](../images/b.png)"),
        ("```sh no-run", "```sh"),
    ],
)
def test_links_out_of_the_documentation_become_text(link: str, adapted: str) -> None:
    assert adapt_page(link, "docs/explanation/a.md", "explanation/a.md") == adapted


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<a href="b/">', None),
        ('<a href="b/#here">', None),
        ('<a href="https://example.org">', None),
        ('<a href="b/#there">', "there is no such anchor"),
        ('<a href="c/">', "there is no such file"),
        ('<img src="d.png">', "there is no such file"),
        ('<a href="../">', "there is no such file"),
        ('<script src="https://example.org/x.js">', "it is loaded from another server"),
    ],
)
def test_a_broken_link_of_a_built_page_is_found(
    html: str, problem: str | None, tmp_path: Path
) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<p id="here">', "utf-8")
    (tmp_path / "index.html").write_text(html, "utf-8")
    found = find_broken_links(tmp_path)
    assert [line.rpartition(": ")[2] for line in found] == ([problem] if problem else [])
