"""Whatever the bytes are, and whatever is said of them, they make a page or a reason."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.web import ReadingBounds
from tasks.web.page import FetchedContent, ReadPage
from tasks.web.readers import read_page
from tests.rigs.saved_pages import page

BOUNDS = ReadingBounds()
HTML = "text/html"


def read(content: bytes, **headers: str) -> ReadPage:
    return read_page(page(content, **headers), BOUNDS)


HOSTILE = {
    "nested elements": b"<html>" + b"<div>" * 6000,
    "nested lists": b"<html>" + b"<ul><li>" * 3000 + b"x",
    "nested tables": b"<html>" + b"<table><tr><td>" * 3000 + b"x",
    "nested inline elements": b"<html><p>" + b"<b><i>" * 3000 + b"x",
    "nested quotes": b"<html>" + b"<blockquote>" * 3000 + b"x",
    "a huge attribute": b"<html><p title='" + b"x" * 3_000_000 + b"'>text",
    "many attributes": b"<html><p " + b" ".join(b"a%d=1" % n for n in range(5_000)) + b">text",
    "an unclosed tag": b"<html><p>text<" + b"a" * 1_000_000,
    "entities": b"<html><p>" + b"&#55296;&#0;&#1114112;&lt;&bogus;" * 9_000,
    "nulls": b"<html><p>te\x00xt\x00</p>" * 9_000,
    "an open comment": b"<html><p>text<!--" + b"-" * 500_000,
    "many links": b"<html>" + b"<a href=x>y</a>" * 60_000,
    "many rows": b"<html><table>" + b"<tr><td>a<td>b" * 30_000,
    "private characters": "<html><p>\ue000\ue001\ue000 text \ue001</p>".encode() * 500,
    "deep JSON for programs": b"<script type='application/json'>"
    + b"[" * 90_000
    + b"</script>text",
    "an XML bomb": b"<?xml version='1.0'?><!DOCTYPE l [<!ENTITY a0 'aaaaaaaaaa'>"
    + b"".join(b"<!ENTITY a%d '%s'>" % (n + 1, b"&a%d;" % n * 10) for n in range(12))
    + b"]><l>text &a11;</l>",
    "an outside entity": b"<?xml version='1.0'?><!DOCTYPE l [<!ENTITY f SYSTEM 'file:///etc/hostname'>]>"
    b"<l>text &f;</l>",
    "nested XML": b"<?xml version='1.0'?>" + b"<a>" * 50_000 + b"x",
    "deep JSON": b"[" * 90_000,
}  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_pages_are_read_or_refused(content: bytes) -> None:
    said = read(content)
    assert said.status in ("ok", "empty", "unreadable", "soft_404")
    assert len(said.text or "") <= len(content) * 2 + 1000
    (said.text or "").encode()


def test_no_file_of_ours_is_shown_to_a_page() -> None:
    said = read(HOSTILE["an outside entity"])
    assert Path("/etc/hostname").read_text("utf-8").strip() not in (said.text or "")


MIME = st.sampled_from(
    ["", "text/html", "text/plain", "application/json", "application/xml", "application/pdf",
     "image/png", "text/html; charset=", "text/html; charset=utf-16", "text/html;charset=base64",
     "text/html; charset=gb2312", "x", ";;;"]
)  # fmt: skip
BEGINNINGS = st.sampled_from(
    [b"", b"<html>", b"<!doctype html><title>", b"%PDF-1.7\n", b"{", b"[", b"<?xml version='1.0'?>",
     b"\xff\xfe", b"\xef\xbb\xbf", b"\xfe\xff", b"<rss><channel>", b"Title: x\nMarkdown Content:\n"]
)  # fmt: skip


@settings(deadline=None)
@given(
    beginning=BEGINNINGS,
    rest=st.binary(max_size=300)
    | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")),
    content_type=MIME | st.text(max_size=30),
    status=st.integers(100, 599),
    source=st.sampled_from(["direct", "jina", "wayback"]),
)
def test_any_bytes_with_any_header_make_a_page(
    beginning: bytes, rest: bytes, content_type: str, status: int, source: Any
) -> None:
    material = FetchedContent(
        source=source, url="https://x.example/a", final_url="https://x.example/",
        http_status=status, headers={"content-type": content_type}, content=beginning + rest,
    )  # fmt: skip
    said = read_page(material, BOUNDS)
    assert (said.text is None) == (said.status != "ok")
    assert (said.error is None) == (said.status == "ok")
    assert said == read_page(material, BOUNDS)
    assert ReadPage.model_validate_json(said.model_dump_json()) == said


@settings(deadline=None)
@given(
    st.recursive(
        st.text(max_size=20),
        lambda inner: st.builds(
            "<{0} {1}>{2}</{0}>".format,
            st.sampled_from(
                [
                    "div",
                    "p",
                    "ul",
                    "li",
                    "table",
                    "tr",
                    "td",
                    "a",
                    "nav",
                    "h1",
                    "pre",
                    "script",
                    "form",
                ]
            ),
            st.sampled_from(["", "hidden", "class=x", "href=y", "role=navigation"]),
            st.lists(inner, max_size=4).map(" ".join),
        ),
        max_leaves=30,
    )
)
def test_any_markup_makes_a_page(markup: str) -> None:
    said = read(f"<html><body>{markup}".encode("utf-8", "replace"), content_type=HTML)
    assert "\ue000" not in (said.text or "")
