"""Other corpora: JSONL and WARC files, whole, packed, damaged and hostile."""

import asyncio
import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.web import ReadingBounds
from tasks.sandbox import source
from tasks.sandbox.page import SandboxError, ServedPage
from tasks.sandbox.source import corpus_name, read_corpus


def read(path: Path, no_day: list[str] | None = None) -> tuple[list[ServedPage], list[str]]:
    """The pages, and what was left out. no_day: takes the dates that cannot be read."""
    left_out: list[str] = []

    async def run() -> list[ServedPage]:
        bounds = ReadingBounds(workers=1, seconds=20)
        told = [] if no_day is None else no_day
        return [page async for page in read_corpus(path, bounds, left_out.append, told.append)]

    return asyncio.run(run()), left_out


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


FULL = {"url": "http://www.a.example/x/?utm_source=y", "title": " A\n title ", "text": "Said.",
        "date": "2024-05-06T07:08:09Z", "language": "en", "score": 0.9}  # fmt: skip
CLUEWEB = {"URL": "https://b.example/", "Clean-Text": "Said, too.", "ClueWeb22-ID": "c",
           "Language": "de"}  # fmt: skip


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz", "C.NDJSON"])
def test_a_line_is_a_page(tmp_path: Path, name: str) -> None:
    content = lines(FULL, CLUEWEB)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    pages, left_out = read(tmp_path / name)
    assert pages == [
        ServedPage(url="https://a.example/x", title="A title", text="Said.", language="en",
                   published_on=date(2024, 5, 6)),
        ServedPage(url="https://b.example", title="", text="Said, too.", language="de"),
    ]  # fmt: skip
    assert left_out == []


def test_a_folder_is_read_file_by_file_by_name(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.jsonl", "a.jsonl", "sub/c.jsonl"):
        text = lines({"url": f"https://{name[-7]}.example", "text": name})
        (tmp_path / name).write_bytes(text)
    (tmp_path / "notes.txt").write_text("no corpus")
    assert [page.text for page in read(tmp_path)[0]] == ["a.jsonl", "b.jsonl", "sub/c.jsonl"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{not json", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"text": "x"}', "`url` is not an http(s) URL: ''"),
        (b'{"url": "javascript:alert(1)", "text": "x"}', "not an http(s) URL: 'javascript"),
        (b'{"url": 5, "text": "x"}', "not an http(s) URL"),
        (b'{"url": "https://a.example/"}', "`text` is empty"),
        (b'{"url": "https://a.example/", "text": [1]}', "`text` is empty"),
    ],
)
def test_a_line_that_is_no_page_is_left_out_and_said(
    tmp_path: Path, line: bytes, said: str
) -> None:
    (tmp_path / "c.jsonl").write_bytes(b"\n" + line + b"\n" + lines(FULL))
    pages, left_out = read(tmp_path)
    assert len(pages) == 1
    [remark] = left_out
    assert remark.startswith("c.jsonl:2: ")
    assert said in remark


def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    record = {"url": "https://a.example/x", "text": "x \ud83d y"}
    (tmp_path / "c.jsonl").write_bytes(lines(record))
    [page] = read(tmp_path)[0]
    assert page.text == "x � y"
    page.text.encode()


def test_a_date_that_cannot_be_read_is_said_and_its_page_is_served_without(tmp_path: Path) -> None:
    dates = ["yesterday", "\ud83d", [2025], True, 10**40, None, "", "2025-05", 1746515289]
    records = [{"url": f"https://a.example/{n}", "text": "x", "date": said}
               for n, said in enumerate(dates)]  # fmt: skip
    (tmp_path / "c.jsonl").write_bytes(lines(*records))
    no_day: list[str] = []
    pages, left_out = read(tmp_path, no_day)
    assert left_out == []
    assert [page.day for page in pages[-2:]] == [date(2025, 5, 31), date(2025, 5, 6)]
    assert {page.day for page in pages[:-2]} == {None}
    assert no_day[0] == "c.jsonl:1: 'yesterday'"
    assert len(no_day) == 5


def test_an_export_says_where_a_page_led_and_when_it_was_fetched(tmp_path: Path) -> None:
    record = {"url": "https://a.example/x", "text": "x", "fetched_at": "2025-06-07 08:09:10+00:00",
              "final_url": "https://b.example/y"}  # fmt: skip
    same = {"url": "https://a.example/z", "text": "x", "final_url": "https://a.example/z/"}
    (tmp_path / "c.jsonl").write_bytes(lines(record, same))
    first, second = read(tmp_path)[0]
    assert (first.final_url, first.day) == ("https://b.example/y", date(2025, 6, 7))
    assert (second.final_url, second.day) == (None, None)


def test_a_line_without_end_is_left_out_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MAX_LINE_BYTES", 1000)
    long = json.dumps({"url": "https://a.example/long", "text": "x" * 5000}).encode()
    (tmp_path / "c.jsonl").write_bytes(long + b"\n" + lines(FULL))
    pages, left_out = read(tmp_path)
    assert [page.url for page in pages] == ["https://a.example/x"]
    assert left_out == ["c.jsonl:1: longer than 1,000 bytes"]


@given(st.lists(st.binary(max_size=60), max_size=5))
@settings(max_examples=60, deadline=None)
def test_no_bytes_stop_it(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]) -> None:
    file = tmp_path_factory.mktemp("c") / "c.jsonl"
    file.write_bytes(b"\n".join([*parts, lines(FULL)]))
    assert "https://a.example/x" in [page.url for page in read(file)[0]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.jsonl.gz", gzip.compress(lines(FULL) * 100)[:-20]),
        ("c.jsonl.gz", b"nothing" * 99),
        ("c.warc", b"nothing" * 99),
        ("c.warc.gz", b"nothing" * 99),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SandboxError, match=name.replace(".", r"\.")):
        read(tmp_path)


def test_a_folder_without_a_corpus_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"is not a corpus; expected a file, or a folder"):
        read(tmp_path)
    with pytest.raises(SandboxError, match="is not a corpus"):
        read(tmp_path / "missing")


def test_corpora_of_the_same_name_have_different_indexes(tmp_path: Path) -> None:
    names = {corpus_name(tmp_path / folder / "Pages 1.jsonl") for folder in "ab"}
    assert len(names) == 2
    assert all(name.startswith("Pages_1-") for name in names)
