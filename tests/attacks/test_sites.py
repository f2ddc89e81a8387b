"""Someone who can change the folder of a site, or a copy of it."""

from pathlib import Path

import pytest

from tasks.files.checksums import SUMS
from tasks.site.folder import SiteFolder
from tasks.site.mark import MARK


def publish(to: Path, page: str) -> Path:
    with SiteFolder(to) as folder:
        folder.add("index.html", page)
        folder.finish({"edition": "e"})
    return to


@pytest.mark.parametrize("in_place", [True, False])
def test_no_earlier_signature_stays(
    in_place: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site keeps no signature of the site that it replaces."""
    site = publish(tmp_path / "site", "old")
    for name in (f"{MARK}.minisig", f"{SUMS}.minisig", f"{SUMS}.sigstore.json"):
        (site / name).write_text("a signature")
    if in_place:
        monkeypatch.chdir(site)  # so that it cannot be renamed
    publish(site, "new")
    assert {path.name for path in site.iterdir()} == {"index.html", MARK, SUMS}


@pytest.mark.parametrize("name", [MARK, SUMS])
def test_a_site_is_written_through_no_link(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site whose files are replaced in place is written through no link."""
    site = publish(tmp_path / "site", "old")
    (tmp_path / "mine").write_text("mine")
    (site / f".evergreen-{name}").symlink_to(tmp_path / "mine")
    monkeypatch.chdir(site)
    publish(site, "new")
    assert (site / "index.html").read_text() == "new"
    assert (tmp_path / "mine").read_text() == "mine"
