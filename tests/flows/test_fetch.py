"""Fetching what reports cite: what nobody knows of is told before anything starts."""

from pathlib import Path

from tests.flows.conftest import Evergreen


def test_what_nobody_knows_of_is_told_before_anything_starts(
    sample: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    where = ("--edition", "sample", "--warehouse", sample)
    for wrong, tells in (
        (("fetch", "--agent", "nobody", *where), "has no reports of 'nobody'. Known: sample_"),
        (("fetch", "--extractor", "nobody", *where), "no judge 'nobody'"),
        (("pages", "references", "--judge", "nobody", *where), "no judge 'nobody'"),
        (("pages", "show", "not a url", *where), "no URL that a citation can have"),
        (("pages", "show", "example.org/x", *where), "not in the archive of sample (as https://ex"),
        (("pages", "counts", "--edition", "other", "--warehouse", sample), "Known: sample"),
    ):
        code, _, said = evergreen(*wrong)
        assert code in (1, 2)
        assert tells in " ".join(said.split())
    missing = tmp_path / "missing.duckdb"
    for command in (("fetch",), ("pages", "walls"), ("pages", "read"), ("pages", "counts")):
        code, _, said = evergreen(*command, "--edition", "sample", "--warehouse", missing)
        assert (code, "there is no warehouse yet" in " ".join(said.split())) == (1, True)
    assert list(tmp_path.iterdir()) == []
