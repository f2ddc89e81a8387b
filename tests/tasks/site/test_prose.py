"""A report's Markdown as HTML: inert whatever it holds, and marked where its claims stand."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.foreign_text import make_visible
from tasks.site.environment import safe_url
from tasks.site.prose import MAX_CHARS, MAX_DEPTH, SIDES, MarkedPassage, render_report
from tasks.site.wording import Tone
from tests.tasks.site.texts import ELEMENTS, hostile, parsed, text_of

REPORT = "# Title\n\nThe first stands. The *second is* here [1].\n\n- An item says it.\n"


def passage(said: str, *claims: int, text: str = REPORT, tone: Tone = "good") -> MarkedPassage:
    start = text.index(said)
    held = tuple((number, tone, "supported") for number in claims or (0,))
    return MarkedPassage(start, start + len(said), held, tone)


@given(hostile, st.data())
def test_only_harmless_elements_and_attributes_come_out(text: str, data: st.DataObject) -> None:
    ends = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    spans = zip(ends[::2], ends[1::2], strict=False)
    marks = [
        MarkedPassage(a, b, ((n, "poor", text[:9]),), "poor")
        for n, (a, b) in enumerate(spans)
        if a < b
    ]
    for element in parsed(render_report(text, marks)).iterdescendants():
        assert element.tag in ELEMENTS
        for name, value in element.attrib.items():
            if name == "href" and not value.startswith("#claim-"):
                assert safe_url(value) is not None
                assert element.get("rel") == "noopener nofollow ugc"
            else:
                assert name in ("href", "rel", "class", "aria-label", "start")


@given(hostile)
def test_no_character_acts_unseen(text: str) -> None:
    shown = render_report(text)
    assert make_visible(shown) == shown


@given(st.lists(st.sampled_from(["One two.", "Three *four* five.", "`Six` seven."]), max_size=6))
def test_marks_change_no_word(sentences: list[str]) -> None:
    text = "\n\n".join(sentences)
    marks = [
        MarkedPassage(text.index(said), text.index(said) + len(said), ((n, "good", "x"),), "good")
        for n, said in enumerate(dict.fromkeys(sentences))
    ]
    plain = parsed(render_report(text))
    marked = parsed(render_report(text, marks))
    for links in marked.xpath("//sup"):
        links.getparent().remove(links) if not links.tail else links.drop_tree()
    assert "".join(marked.itertext()) == "".join(plain.itertext())


def test_a_passage_is_marked_and_leads_to_its_claims() -> None:
    page = parsed(render_report(REPORT, [passage("The first stands.", 3, 4)]))
    (mark,) = page.iter("mark")
    assert (mark.text, mark.get("class")) == ("The first stands.", "t-good")
    links = [(a.get("href"), a.text, a.get("aria-label")) for a in page.iter("a")]
    assert links == [
        ("#claim-3", "3", "claim 3: supported"), ("#claim-4", "4", "claim 4: supported"),
    ]  # fmt: skip


def test_a_passage_goes_on_through_emphasis_and_has_one_set_of_links() -> None:
    page = parsed(render_report(REPORT, [passage("The *second is* here", 7)]))
    assert [mark.text for mark in page.iter("mark")] == ["The ", "second is", " here"]
    assert [a.text for a in page.iter("a")] == ["7"]


def test_entities_and_escaped_signs_are_marked_with_the_words_around_them() -> None:
    text = "It cost \\$5 &amp; more. Then \\*less\\*."
    first, second = text.index("It"), text.index("Then")
    marks = [MarkedPassage(first, second - 1, ((1, "bad", "x"),), "bad"),
             MarkedPassage(second, len(text), ((2, "good", "x"),), "good")]  # fmt: skip
    page = parsed(render_report(text, marks))
    said = {tone: "".join(m.text or "" for m in page.iter("mark") if m.get("class") == tone)
            for tone in ("t-bad", "t-good")}  # fmt: skip
    assert said == {"t-bad": "It cost $5 & more.", "t-good": "Then *less*."}
    assert [a.text for a in page.iter("a")] == ["1", "2"]


def test_a_passage_that_ends_in_code_still_has_its_links() -> None:
    text = "Begins here and `ends there`"
    page = parsed(
        render_report(text, [MarkedPassage(0, len(text), ((1, "bad", "conflicting"),), "bad")])
    )
    assert [a.text for a in page.iter("a")] == ["1"]


def test_links_can_lead_to_another_page() -> None:
    shown = render_report(REPORT, [passage("The first stands.", 3)], "more.html#claim-{}".format)
    assert 'href="more.html#claim-3"' in shown


def test_html_is_shown_as_it_is_written() -> None:
    for text in ("<script>pwned()</script>", "<div onclick=x>a</div>", "a <img src=x onerror=y> b"):
        assert text_of(render_report(text)).strip() == text


def test_addresses_that_lead_nowhere_good_are_words() -> None:
    for address in ("javascript:x", "data:text/html,x", "https://u:p@example.org", "//example.org",
                    "vbscript:x", "/etc/passwd", "mailto:a@example.org"):  # fmt: skip
        page = parsed(render_report(f"[words]({address})"))
        assert not list(page.iter("a"))
        assert "words" in "".join(page.itertext())
    (link,) = parsed(render_report("[words](https://example.org/a)")).iter("a")
    assert dict(link.attrib) == {"href": "https://example.org/a", "rel": "noopener nofollow ugc"}


def test_pictures_are_named_and_never_loaded() -> None:
    page = render_report("![a ship](https://example.org/ship.png)")
    assert "<img" not in page
    assert text_of(page).strip() == "[picture: a ship]"


def test_cells_are_aligned_by_class_as_no_style_may_stand_in_a_page() -> None:
    page = render_report("| a | b | c | d |\n|:--|:-:|--:|--|\n| 1 | 2 | 3 | 4 |")
    assert [cell.get("class") for cell in parsed(page).iter("td")] == [*SIDES, None]
    assert "style" not in page


def test_headings_stand_below_those_of_the_page() -> None:
    tags = [e.tag for e in parsed(render_report("# a\n\n## b\n\n###### c")).iterchildren()]
    assert tags == ["h3", "h4", "h6"]
    tags = [e.tag for e in parsed(render_report("### a\n\n#### b\n\n### c")).iterchildren()]
    assert tags == ["h3", "h4", "h3"]


def test_what_is_too_long_or_too_deep_is_shown_as_plain_text_and_whole() -> None:
    for text in ("word " * (MAX_CHARS // 5 + 1), ">" * 10_000 + " deep", "> " * MAX_DEPTH + "deep"):
        page = parsed(render_report(text))
        assert [e.tag for e in page.iterdescendants()] == ["pre"]
        assert "".join(page.itertext()) == text
    assert "deep" in text_of(render_report("> " * (MAX_DEPTH - 2) + "deep"))


def test_constructs_inside_each_other_are_shown_whole() -> None:
    for sign in ("*", "[", "![", "<", "[a](", "_", "&"):
        text = sign * 3_000 + "words"
        assert text_of(render_report(text)).strip().endswith("words")


def test_each_link_has_the_tone_and_the_words_of_its_own_claim() -> None:
    both = MarkedPassage(0, 6, ((1, "good", "supported"), (2, "poor", "not supported")), "poor")
    links = list(parsed(render_report("A tale", [both])).iter("a"))
    assert [link.get("class") for link in links] == ["claim t-good", "claim t-poor"]
    assert [link.get("aria-label") for link in links] == [
        "claim 1: supported",
        "claim 2: not supported",
    ]


def test_a_table_row_has_its_links_once_and_marks_in_every_cell() -> None:
    text = "| a | b |\n|---|---|\n| one | two |\n"
    row = MarkedPassage(
        text.index("one"), text.index("two") + 3, ((4, "good", "supported"),), "good"
    )
    page = parsed(render_report(text, [row]))
    assert [mark.text for mark in page.iter("mark")] == ["one", "two"]
    assert [link.text for link in page.iter("a")] == ["4"]
