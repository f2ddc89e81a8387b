"""Bytes become the characters they were, whatever header and page say of them."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.web.kinds import decode_page

RUSSIAN = (
    "Озеро Тихое расположено в 47 км к северу от города. Впервые описано в 1784 году экспедицией."
)
JAPANESE = "三ノ瀬鉄道は1912年（大正元年）8月に開業した軽便鉄道で、全長は14.3キロメートルであった。"
CHINESE = "9月28日上午，青岚江大桥正式建成通车。大桥全长2860米，主跨518米，是江州市第三座跨江通道。"
GERMAN = "Die Brücke über die Elmau wurde für 3 Millionen Euro saniert, sagte Bürgermeister Größl."
KOREAN = "다리는 1931년에 개통되었으며 건설 비용은 삼백만 원이었다고 한다."


def html(text: str, encoding: str, meta: str | None = None) -> bytes:
    told = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">' if meta else ""
    page = f"<html><head>{told}<title>x</title></head><body><p>{text}</p></body></html>"
    return page.encode(encoding)


@pytest.mark.parametrize(
    ("text", "encoding", "header", "meta"),
    [
        pytest.param(RUSSIAN, "cp1251", "text/html; charset=windows-1251", None, id="header"),
        pytest.param(RUSSIAN, "cp1251", "text/html", "windows-1251", id="meta"),
        pytest.param(RUSSIAN, "koi8_r", None, "koi8-r", id="meta without a header"),
        pytest.param(JAPANESE, "cp932", "text/html", "Shift_JIS", id="Shift_JIS"),
        pytest.param(JAPANESE, "euc_jp", "text/html; charset=EUC-JP", None, id="EUC-JP"),
        pytest.param(JAPANESE, "iso2022_jp", "text/html", "iso-2022-jp", id="seven bits"),
        pytest.param(CHINESE, "gb18030", "text/html", "gb2312", id="GBK called GB2312"),
        pytest.param(CHINESE.replace("岚", "山"), "gbk", "text/html;charset=gbk", None, id="GBK"),
        pytest.param(KOREAN, "cp949", "text/html", "euc-kr", id="EUC-KR"),
        pytest.param(GERMAN, "cp1252", "text/html; charset=iso-8859-1", None, id="Latin-1"),
        pytest.param(GERMAN, "utf-8", "text/html; charset=iso-8859-1", None, id="header lies"),
        pytest.param(RUSSIAN, "utf-8", "text/html", "windows-1251", id="meta lies"),
        pytest.param(RUSSIAN, "cp1251", "text/html; charset=utf-8", None, id="no UTF-8 at all"),
        pytest.param(RUSSIAN, "cp1251", "text/html; charset=utf-8", "utf-8", id="both lie"),
        pytest.param(RUSSIAN, "cp1251", "text/html; charset=ISO-8859-1", None, id="default header"),
        pytest.param(
            RUSSIAN, "cp1251", "text/html; charset=ISO-8859-1", "windows-1251", id="page knows"
        ),
        pytest.param(JAPANESE, "cp932", None, None, id="nobody says anything"),
        pytest.param(CHINESE, "gb18030", None, None, id="nobody says anything in China"),
        pytest.param(RUSSIAN, "utf-16-le", "text/html", None, id="UTF-16 without a mark"),
        pytest.param(GERMAN, "utf-16-be", "text/html", None, id="big UTF-16 without a mark"),
        pytest.param(
            GERMAN, "utf-16", "text/html; charset=utf-8", "utf-8", id="UTF-16 by its mark"
        ),
        pytest.param(
            GERMAN, "utf-8-sig", "text/html; charset=latin1", None, id="UTF-8 by its mark"
        ),
        pytest.param(GERMAN, "utf-32", None, None, id="UTF-32 by its mark"),
        pytest.param(GERMAN, "utf-8", "text/html; charset=klingon", "base64", id="no encodings"),
    ],
)
def test_a_page_reads_as_it_was_written(
    text: str, encoding: str, header: str | None, meta: str | None
) -> None:
    assert text in decode_page(html(text, encoding, meta), header)


def test_a_page_cut_in_the_middle_of_a_letter_keeps_its_encoding() -> None:
    content = html(RUSSIAN, "utf-8")[: -len("</p></body></html>") - 1]
    assert RUSSIAN[:-2] in decode_page(content, "text/html; charset=utf-8")


def test_a_single_wrong_byte_does_not_change_the_encoding() -> None:
    content = html(RUSSIAN * 20, "utf-8").replace(b"<p>", b"<p>\xff")
    assert RUSSIAN in decode_page(content, "text/html; charset=utf-8")


def test_a_text_does_not_name_its_own_encoding() -> None:
    content = '<meta charset="cp1251"> Größe'.encode()
    assert "Größe" in decode_page(content, "text/plain", is_html=False)


CHARSETS = ("utf-8", "cp932", "hz", "utf-7", "rot13", "idna", "punycode", "unicode_escape")


@given(
    st.binary(max_size=200),
    st.none() | st.sampled_from(CHARSETS).map("text/html; charset={}".format),
)
def test_any_bytes_make_a_text_that_utf_8_can_hold(content: bytes, header: str | None) -> None:
    decode_page(content, header).encode()


@given(st.text(max_size=100), st.sampled_from([codecs.BOM_UTF8]))
def test_what_is_utf_8_by_its_mark_is_read_as_it_is(text: str, mark: bytes) -> None:
    content = text.encode("utf-8", "ignore")
    assert decode_page(mark + content, "text/html; charset=cp1251") == content.decode()
