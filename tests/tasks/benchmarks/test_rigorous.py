"""Rigorous Bench's published file as queries with bundles, and what is wrong with others."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.rigorous import GENERAL, QUERY, read_rigorous
from tasks.configuration.models import load_protocol

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/data/rigorous/entries.json"
Content = dict[str, Any]


def rubrics(n: int, points: int) -> list[Content]:
    """`n` rubrics worth so many points, all but the last 1."""
    given = [1] * (n - 1) + [points - n + 1]
    return [
        {"n": place, "rubric": f"Does it say {place}?", "yes": yes, "no": 0}
        for place, yes in enumerate(given, start=1)
    ]


def content(**changed: Any) -> Content:
    entry = {
        "uid": "07001", "query": "How?", "qsr": rubrics(8, 30), "tsl": ["https://a.org/x"],
        "fak": ["one"], "fdk": ["two"],
    }  # fmt: skip
    return {"grr": rubrics(48, 73), "entries": [entry | changed]}


def written(folder: Path, said: object, name: str = "entries.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(said), "utf-8")
    return path


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("00", "Unclassified"),
        ("07", "Technology Intelligence"),
        ("11", "11"),
    ],
)
def test_a_uid_s_code_becomes_the_domain_of_the_paper_s_table(
    tmp_path: Path, code: str, name: str
) -> None:
    domains = load_protocol("rigorous").parameters["domains"]
    [query] = read_rigorous(written(tmp_path, content(uid=f"{code}001")), domains)
    assert query.settings.theme == name


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published data is not at hand")
def test_the_published_rubrics_are_48_worth_73_points_and_30_points_an_entry() -> None:
    cat, quic = read_rigorous(PUBLISHED, {"07": "Technology"})
    assert (cat.key, quic.key) == ("040216", "07001")
    assert (cat.settings.theme, quic.settings.theme) == ("04", "Technology")
    for entry, n in ((cat, 30), (quic, 17)):
        of = {d: [i for i in entry.items if i.dimension == d] for d in (QUERY, GENERAL)}
        assert (len(of[GENERAL]), sum(item.points for item in of[GENERAL])) == (48, 73)
        assert (len(of[QUERY]), sum(item.points for item in of[QUERY])) == (n, 30)
        assert {item.allowed for item in entry.items} <= {("1", "0"), ("2", "0")}
        assert len({item.item for item in entry.items}) == len(entry.items)
        assert len(entry.settings.focus_keywords) == len(entry.settings.deviation_keywords) == 5
    assert (len(cat.settings.trusted_links), len(quic.settings.trusted_links)) == (8, 5)
    assert quic.settings.focus_keywords[0] == "0-RTT"


def test_a_ternary_rubric_has_three_values(tmp_path: Path) -> None:
    qsr = rubrics(8, 30)
    qsr[-1]["partial"] = 10
    [query] = read_rigorous(written(tmp_path, content(qsr=qsr)), {})
    assert query.items[7].allowed == ("23", "10", "0")


def test_values_may_stand_at_the_end_of_the_text(tmp_path: Path) -> None:
    qsr = [f"Does it say {n}? Yes=3, No=0" for n in range(8)]
    qsr += ["Does it = all? Yes=6, Partly = 2; No=0."]
    lines = tmp_path / "bench.jsonl"
    lines.write_text(json.dumps(content(qsr=qsr)["entries"][0]) + "\n", "utf-8")
    [query] = read_rigorous(lines, {}, written(tmp_path, content()))
    assert (query.items[0].text, query.items[0].allowed) == ("Does it say 0?", ("3", "0"))
    assert (query.items[8].text, query.items[8].allowed) == ("Does it = all?", ("6", "2", "0"))
    with pytest.raises(EditionError, match=r"bench\.jsonl has no general rubrics.*--general"):
        read_rigorous(lines, {})


def changed(change: Callable[[Content], object]) -> Content:
    said = content()
    change(said)
    return said


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (content(qsr=rubrics(8, 29)), "'07001': `qsr`: the rubrics are worth 29 points; expected"),
        (content(qsr=rubrics(7, 30)), "'07001': `qsr`: 7 rubrics; an entry needs at least 8"),
        (changed(lambda s: s["grr"].pop()), r"`grr`: .* 47 points; .* Correct their values\.$"),
        (changed(lambda s: s.pop("grr")), "has no general rubrics"),
        (changed(lambda s: s.pop("entries")), "`entries`: expected a list"),
        (changed(lambda s: s["entries"].clear()), "has no rows"),
        (changed(lambda s: s["entries"].append(s["entries"][0])), "'07001' is there twice"),
        (changed(lambda s: s["entries"][0].pop("tsl")), "'07001': `tsl`: it is missing"),
        (content(uid=7001), "row 1: `uid`: expected a text .*; found '7001'"),
        (content(uid="../07"), "`uid`: expected the form "),
        (content(query=" "), "`query`: expected some words; found ' '"),
        (changed(lambda s: s["entries"][0]["qsr"][0].update(maybe=1)), r"`qsr\.0\.maybe`: Extra"),
        (content(tsl=["ftp://a.org"]), r"`tsl\.0`: expected a web address.*; found 'ftp://a.org'"),
        (content(fak="one"), "`fak`: expected a list; found 'one'"),
        (content(fdk=[1]), r"`fdk\.0`: expected a text"),
        (content(fdk=["x" * 201]), r"`fdk\.0`: expected a text of at most 200 characters"),
        (changed(lambda s: s["entries"][0]["qsr"][0].update(yes=True)), r"`qsr\.0\.yes`"),
        (changed(lambda s: s["entries"][0]["qsr"][0].update(yes=float("nan"))), r"`qsr\.0\.yes`"),
        (
            changed(lambda s: s["entries"][0]["qsr"][0].update(no=1)),
            r"`qsr\.0`: expected decreasing values",
        ),
        (
            changed(lambda s: s["entries"][0]["qsr"][0].update(partial=2)),
            r"`qsr\.0`: expected decreasing values from `yes` to a `no` of 0\.$",
        ),
        (changed(lambda s: s["entries"][0]["qsr"].insert(0, "No values here")), r"`qsr\.0`"),
        (changed(lambda s: s["grr"][0].update(yes="2")), r"`grr\.0\.yes`: expected a whole number"),
        ({"entries": []}, "has no general rubrics"),
    ],
)
def test_what_is_wrong_is_said_by_file_entry_and_field(
    said: object, message: str, tmp_path: Path
) -> None:
    with pytest.raises(EditionError, match=rf"entries\.json.*{message}"):
        read_rigorous(written(tmp_path, said), {})


def test_a_text_of_nothing_but_blanks_takes_no_time(tmp_path: Path) -> None:
    said = content(qsr=["a" + " " * 19_000 + "Yes=1 No", *rubrics(8, 30)])
    with pytest.raises(EditionError, match=r"`qsr\.0`"):
        read_rigorous(written(tmp_path, said), {})
