"""Code on the pages that people read: each block says what becomes of it in the tests.

The words after a fence's three backticks are the language and a mark:

- `console`: commands after `$`, with what they print. They are run in order in one shell, and what
  they print is compared; `…` stands for anything.
- `python` and `sql` are run, `json` is read, `yaml FILE` is loaded as that file of `configs/`.
- `text message` is a message of the code.
- What is marked `sandbox` is asked of a running sandbox, by
  tests/processes/flows/cli/test_sandbox.py.
- What is marked `library` is run by tests/prose/test_library.py, with a package of its own.
- Any other block is marked `no-run`.

Whatever the mark, `evergreen` commands in a block or in the text must be ones that can be given.
"""

import re
import shlex
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
PARSER = MarkdownIt("commonmark").enable("table")
RUN = {"console", "python", "sql", "json", "yaml"}
"""Languages that are run, read or loaded unless the block has another mark."""
NO_RUN, MESSAGE, SANDBOX, LIBRARY = MARKS = ("no-run", "message", "sandbox", "library")


class Block(NamedTuple):
    """A fenced block of code."""

    page: str
    """The page's path from the project's root."""
    line: int
    language: str
    mark: str
    text: str

    @property
    def is_run(self) -> bool:
        return self.language in RUN and self.mark not in MARKS

    @property
    def name(self) -> str:
        return f"{self.page}:{self.line}"


def list_pages() -> list[Path]:
    """Every page: those at the project's root, and those in docs/."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


@cache
def list_blocks() -> list[Block]:
    """Every fenced block of every page."""
    return [
        Block(page.relative_to(ROOT).as_posix(), token.map[0] + 1, language, mark, token.content)
        for page in list_pages()
        for token in PARSER.parse(page.read_text("utf-8"))
        if token.type == "fence" and token.map
        for language, _, mark in [token.info.strip().partition(" ")]
    ]


def list_indented_blocks() -> list[str]:
    """Blocks of code without a fence, which cannot have a mark."""
    return [
        f"{page.relative_to(ROOT)}:{token.map[0] + 1}"
        for page in list_pages()
        for token in PARSER.parse(page.read_text("utf-8"))
        if token.type == "code_block" and token.map
    ]


@cache
def list_given_commands() -> list[tuple[str, str]]:
    """(page, command) of every `evergreen …` in the blocks, once each."""
    found = [(block.page, each) for block in list_blocks() for each in _commands_of(block)]
    return list(dict.fromkeys(found))


@cache
def list_named_commands() -> list[tuple[str, str]]:
    """(page, command) of every `evergreen …` in code within the text, once each."""
    found = [
        (page.relative_to(ROOT).as_posix(), code)
        for page in list_pages()
        for code in _inline_code(page)
        if code.startswith("evergreen ")
    ]
    return list(dict.fromkeys(found))


def _commands_of(block: Block) -> list[str]:
    if block.language not in ("console", "sh", "crontab", "text") or block.mark == MESSAGE:
        return []
    prompt = r"^\$ (?:\w+=\S+ )*" if block.language == "console" else r"^(?:\w+=\S+ )*"
    lines = re.sub(r"\\\n\s*", " ", block.text).splitlines()
    found = [re.sub(prompt, "", line) for line in lines if re.match(f"{prompt}evergreen ", line)]
    return [_end(each) for each in found]


def _inline_code(page: Path) -> list[str]:
    tokens = PARSER.parse(page.read_text("utf-8"))
    children = (child for token in tokens for child in token.children or ())
    return [child.content for child in children if child.type == "code_inline"]


def _end(command: str) -> str:
    """A command without what a shell does with it, and without a comment."""
    words = shlex.split(command, comments=True)
    ended = takewhile(lambda word: word not in ("|", "||", "&&", ";", ">"), words)
    return shlex.join(word.removesuffix(";") for word in ended)
