"""The documentation's site in build/docs/site, built strictly: `python -m tests.docs.site`.

It gets the pages in docs/, those made from the program, and the pages at the project's root. Links
to other files of the repository become plain text: the site does not have them.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from tests.docs import commands_page, configs_page, tables_page
from tests.docs.built_links import find_broken_links

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BUILD = ROOT / "build" / "docs"
GENERATED: Mapping[str, Callable[[], str]] = {
    "reference/commands.md": commands_page.render_page,
    "reference/configs.md": configs_page.render_page,
    "reference/tables.md": tables_page.render_page,
}
"""Page of the site → the function that makes it."""
ROOT_PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "README.md": "index.md",
}
"""Page at the root → where links to it lead. The README itself is not copied: docs/index.md is."""

LINK = re.compile(
    r"(?P<code>^```.*?^```$|`[^`\n]+`)"
    r"|(?P<image>!?)\[(?P<text>(?:`[^`\n]+`|[^\[\]\n])*)\]\((?P<target>[^)\s]+)\)",
    re.MULTILINE | re.DOTALL,
)
"""A link, or code, in which there is none."""
MARKED_FENCE = re.compile(r"^(```\w+) .+$", re.MULTILINE)


def build_site(build: Path = BUILD) -> list[str]:
    """Build the site; return what is broken."""
    shutil.rmtree(build, ignore_errors=True)
    write_pages(build / "pages")
    shutil.copy(ROOT / "zensical.toml", build)
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "-f", str(build / "zensical.toml")],
        cwd=build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        return [done.stdout.partition("Traceback")[0]]
    return find_broken_links(build / "site")


def write_pages(folder: Path) -> None:
    """Write the site's Markdown and pictures."""
    shutil.copytree(DOCS, folder)
    for name, render in GENERATED.items():
        _write(folder / name, render())
    for source, page in _list_sources():
        text = adapt_page(source.read_text("utf-8"), source.relative_to(ROOT).as_posix(), page)
        _write(folder / page, text)


def _list_sources() -> Iterator[tuple[Path, str]]:
    """Every page that is copied, with its place on the site."""
    for path in sorted(DOCS.rglob("*.md")):
        yield path, path.relative_to(DOCS).as_posix()
    for name, page in ROOT_PAGES.items():
        if name != "README.md":
            yield ROOT / name, page


def adapt_page(text: str, source: str, page: str) -> str:
    """Make a page of the repository one of the site: its links, and its marks for tests."""

    def adapt_link(found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        target, _, anchor = found["target"].partition("#")
        if not target or ":" in target:
            return found[0]
        place = _place(normpath(str(PurePosixPath(source).parent / target)))
        if place is None:
            return found["text"]
        to = relpath(place, str(PurePosixPath(page).parent))
        return f"{found['image']}[{found['text']}]({to}{anchor and '#'}{anchor})"

    return MARKED_FENCE.sub(r"\1", LINK.sub(adapt_link, text))


def _place(path: str) -> str | None:
    """Where a file of the repository is on the site; None if it is not there."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def main() -> int:
    """Build the site, print what is broken."""
    if broken := build_site():
        print("\n".join(broken), file=sys.stderr)
        return 1
    print(f"{(BUILD / 'site' / 'index.html').relative_to(ROOT)}: the documentation is built.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
