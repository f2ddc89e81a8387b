"""What agents cite, in one form; each (sentence, URL) pair is read back by the real extractor."""

import json
import re
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks.agents.agent import Annotation, JobAnswer, ReportSource
from tasks.agents.citations.markdown import render_report
from tasks.extraction.claims import extract_claims
from tasks.extraction.reading import read_citations

PUBLISHED = Path(__file__).resolve().parents[5] / "shared/data/wlc/2025_Mar_Nov/test_data"
Way = Literal["annotations", "numbered", "as_written"]
A, B, C = "https://a.org/one", "https://b.org/two?x=1", "https://c.org/three"


def article(answer: JobAnswer, citations: Way | None = None) -> str:
    return render_report(answer, kind="write_article", citations=citations)


def over(text: str, part: str, url: str, title: str | None = None) -> Annotation:
    """An annotation over the first occurrence of a part of a text."""
    start = text.index(part)
    return Annotation(start=start, end=start + len(part), url=url, title=title)


def annotated(
    text: str, *said: tuple[str, str], how: Literal["after", "instead"] = "after"
) -> JobAnswer:
    annotations = tuple(over(text, part, url, f"Title of {url[8:]}") for part, url in said)
    return JobAnswer(outcome="report", text=text, annotations=annotations, marker_placement=how)


def pairs(markdown: str) -> list[tuple[str, tuple[str, ...]]]:
    """Every sentence with the pages that its own markers lead to."""
    return [
        (claim.text, tuple(c.url for c in claim.citations if c.kind == "explicit"))
        for claim in extract_claims("", markdown).claims
    ]


def test_a_marker_follows_each_span_and_the_list_says_what_it_is() -> None:
    text = "# T\n\nThe Packers beat the Rams 35–23. It was their largest comeback.\n"
    answer = annotated(text, ("The Packers beat the Rams 35–23", A), ("largest comeback.", B))
    written = article(answer)
    assert written == (
        "# T\n\nThe Packers beat the Rams 35–23[1]. It was their largest comeback.[2]\n"
        f"\n\n## References\n\n[1] Title of a.org/one. {A}\n[2] Title of b.org/two?x=1. {B}"
    )
    assert pairs(written) == [
        ("The Packers beat the Rams 35–23.", (A,)),
        ("It was their largest comeback.", (B,)),
    ]


def test_several_sources_of_one_place_stand_together_in_order_and_each_page_has_one_number() -> (
    None
):
    text = "Öl floß über die Straße. Dann kam der Regen in die Stadt."
    answer = annotated(
        text,
        ("Öl floß über die Straße.", B),
        ("Öl floß über die Straße.", A),
        ("Öl floß über die Straße.", "http://www.b.org/two?x=1&utm_source=openai"),
        ("Dann kam der Regen in die Stadt.", A),
    )
    written = article(answer)
    assert written.startswith(
        "Öl floß über die Straße.[1][2] Dann kam der Regen in die Stadt.[2]\n"
    )
    assert [urls for _, urls in pairs(written)] == [(B, A), (A,)]


def test_numbers_follow_the_text_not_the_order_in_which_annotations_come() -> None:
    text = "First sentence of all here. Second sentence of all here."
    written = article(annotated(text, ("Second sentence of all here.", A), ("First", B)))
    assert written.startswith("First[1] sentence of all here. Second sentence of all here.[2]")
    assert [urls for _, urls in pairs(written)] == [(B,), (A,)]


def test_links_of_the_text_give_way_to_markers_with_their_spaces() -> None:
    text = (
        f"The game was played in Milwaukee ([a.org]({A})). The crowd was large. ([b]({B}))\n\n"
        f"- An item of the list ([a.org]({A}), [b]({B})) goes on here.\n"
    )
    answer = annotated(
        text, (f"([a.org]({A}))", A), (f"([b]({B}))", B), (f"[a.org]({A}), ", A), how="instead"
    )
    again = over(text[100:], f"[b]({B})", B)
    assert again.start is not None
    assert again.end is not None
    moved = again.model_copy(update={"start": again.start + 100, "end": again.end + 100})
    written = article(answer.model_copy(update={"annotations": (*answer.annotations, moved)}))
    assert written.startswith("The game was played in Milwaukee[1]. The crowd was large.[2]\n\n")
    assert [urls for _, urls in pairs(written)][:2] == [(A,), (B,)]


def test_a_list_of_links_in_one_bracket_becomes_markers_without_the_bracket() -> None:
    text = f"Something happened in this town ([x]({A}), [y]({B})) and went on."
    answer = annotated(text, (f"[x]({A})", A), (f"[y]({B})", B), how="instead")
    written = article(answer)
    assert written.startswith("Something happened in this town[1][2] and went on.\n\n## References")
    assert pairs(written) == [("Something happened in this town and went on.", (A, B))]


def test_the_words_of_a_link_within_a_sentence_stay() -> None:
    text = f"According to [the annual report]({A}) the town grew."
    written = article(annotated(text, (f"[the annual report]({A})", A), how="instead"))
    assert written.startswith("According to the annual report[1] the town grew.\n")


def test_prose_is_never_taken_for_the_markup_of_a_link() -> None:
    text = "The town grew by a third. Nobody knows why that was."
    written = article(annotated(text, ("The town grew by a third.", A), how="instead"))
    assert written.startswith("The town grew by a third.[1] Nobody knows why that was.\n")


def test_words_for_private_use_in_place_of_a_link_give_way_too() -> None:
    token = "\ue200cite\ue202turn0search1\ue201"
    text = f"The town grew by a third {token}. Nobody knows."
    written = article(annotated(text, (token, A), how="instead"))
    assert written.startswith("The town grew by a third[1]. Nobody knows.\n")


@pytest.mark.parametrize(
    ("text", "part", "begins"),
    [
        ("The comeback was the largest.", "The comeb", "The comeback[1] was"),
        ("Starr's team won the game.", "Starr", "Starr's[1] team"),
        ("It cost 3.5 million then.", "It cost 3", "It cost 3.5[1] million"),
        (f"See [the page]({C}) for all of it.", "See [the", f"See [the page]({C})[1] for"),
        (f"See {C} for all of it.", "See https://c.o", f"See {C}[1] for"),
        ("Call `run it now` and wait.", "Call `run", "Call `run it now`[1] and"),
        ("A picture ![of it](https://i.org/x.png) is there.", "A picture ![of",
         "A picture ![of it](https://i.org/x.png)[1] is"),
        ("A paragraph stands.   \n\n```\ncode\n```\n", "A paragraph stands.   \n\n```\nco",
         "A paragraph stands.[1]   \n\n```\ncode\n```\n"),
        ("The team(of 1982) won it.", "The team", "The team<sup>1</sup>(of 1982) won"),
        ("北京是中国的首都。 It is a city.", "北京", "北京[1]是中国的首都。"),
    ],
)  # fmt: skip
def test_a_marker_never_breaks_what_it_stands_in(text: str, part: str, begins: str) -> None:
    written = article(annotated(text, (part, A)))
    assert written.startswith(begins)
    assert any(A in urls for _, urls in pairs(written))


def test_markers_of_table_rows_stand_in_their_last_cell_and_none_in_bars_or_headings() -> None:
    text = (
        "## Scores\n\n| Team | Points |\n|---|---|\n"
        "| Packers of Green Bay | 35 |\n| Rams of Los Angeles | 23 |\n"
    )
    answer = annotated(
        text,
        ("|---|---|", C),
        ("## Scores", C),
        (text[-50:-30], A),
        ("| Rams of Los Angeles | 23 |\n", B),
    )
    written = article(answer)
    assert "|---|---|\n" in written
    assert "## Scores\n" in written
    assert "| Rams of Los Angeles | 23[2] |" in written
    assert written.endswith(f"\n\n## Additional sources\n\n[3] Title of c.org/three. {C}")
    assert [urls for _, urls in pairs(written)] == [(A,), (B,)]


@pytest.mark.parametrize(
    ("start", "end"),
    [(None, None), (0, 10**18), (-5, -1), (-1, 3), (9, 3), (200, 201), (3, None), (0, 0)],
)
def test_a_source_without_a_place_is_listed_and_nobody_cites_it(
    start: int | None, end: int | None
) -> None:
    text = "The town grew by a third."
    lost = Annotation(start=start, end=end, url=B, title="Lost")
    answer = annotated(text, (text, A))
    answer = answer.model_copy(update={"annotations": (lost, *answer.annotations)})
    written = article(answer)
    assert written.endswith(
        f"[1] Title of a.org/one. {A}\n\n## Additional sources\n\n[2] Lost. {B}"
    )
    assert pairs(written) == [(text, (A,))]


def test_numbers_that_stand_for_something_else_are_not_used_again() -> None:
    text = "An array of x[1] is meant here. The town grew by a third.\n\nSources:\n\n2. A book\n"
    written = article(annotated(text, ("The town grew by a third.", A)))
    assert "third.[2]" in written
    assert [urls for _, urls in pairs(written)][:2] == [(), (A,)]


def test_a_text_with_numbers_and_a_list_of_its_own_stays_as_it_is() -> None:
    text = f"The town grew by a third [1].\n\n## Sources\n\n[1] {A}\n"
    answer = annotated(text, ("The town grew", B)).model_copy(
        update={"sources": (ReportSource(url=C),)}
    )
    for way in ("annotations", "numbered", None):
        assert article(answer, way) == text


def test_a_list_beside_the_text_is_put_in_its_order_so_that_its_numbers_stay() -> None:
    text = "The town grew by a third[2]. It then shrank by a half[3][1]."
    sources = (
        ReportSource(url=A, title="One"),
        ReportSource(url=B, title="Two"),
        ReportSource(url=C),
    )
    written = article(JobAnswer(outcome="report", text=text, sources=sources))
    assert written == f"{text}\n\n## References\n\n[1] One. {A}\n[2] Two. {B}\n[3] {C}"
    assert [urls for _, urls in pairs(written)] == [(B,), (C, A)]


def test_a_source_that_is_no_address_takes_its_number_with_it() -> None:
    text = "The town grew by a third[2]. It then shrank by a half[1]."
    sources = (ReportSource(url="javascript:alert(1)"), ReportSource(url=B))
    written = article(JobAnswer(outcome="report", text=text, sources=sources), "numbered")
    assert [urls for _, urls in pairs(written)] == [(B,), ()]
    assert "javascript" not in written


def test_geminis_numbers_are_read_with_its_own_list() -> None:
    redirect = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQ"
    text = (
        "[cite_start]The town grew by a third [cite: 1, 2]. It then shrank[cite: 2].\n\n"
        f"**Sources:**\n1. [a.org]({redirect}A)\n2. [b.org]({redirect}B)\n"
    )
    written = article(JobAnswer(outcome="report", text=text))
    assert written.startswith("The town grew by a third [1][2]. It then shrank[2].\n")
    assert "## References" not in written
    assert [urls for _, urls in pairs(written)][:2] == [
        (f"{redirect}A", f"{redirect}B"), (f"{redirect}B",)
    ]  # fmt: skip


def test_annotations_stand_where_they_did_after_geminis_numbers_were_changed() -> None:
    text = "The Straße [cite: 1] grew. Then it shrank [cite: 2] by a half."
    written = article(annotated(text, ("Then it shrank [cite: 2] by a half", A)))
    assert written.startswith("The Straße [1] grew. Then it shrank [2] by a half[3].\n")


def test_a_list_under_an_unknown_heading_is_put_in_a_form_that_is_read() -> None:
    text = (
        "The town grew by a third [cite: 1]. It then shrank [cite: 2].\n\n"
        f"**What this rests on**\n\n1. [a.org]({A})\n2. A page, {B}\n"
    )
    written = article(JobAnswer(outcome="report", text=text))
    assert [urls for _, urls in pairs(written)][:2] == [(A,), (B,)]


def test_sources_of_a_text_without_markers_are_listed_and_cited_by_nobody() -> None:
    text = f"The town grew by a third ([a]({A})). It then shrank by a half."
    answer = JobAnswer(outcome="report", text=text, sources=(ReportSource(url=C, title="Three"),))
    written = article(answer)
    assert written == f"{text}\n\n## Additional sources\n\n[1] Three. {C}"
    assert pairs(written)[0][1] == (A,)
    assert article(answer, "as_written") == text


def test_answers_to_questions_are_left_exactly_as_they_are() -> None:
    text = '{"claims": [{"value": "x [cite: 1]"}]}'
    answer = annotated(text, ("claims", A)).model_copy(update={"sources": (ReportSource(url=B),)})
    for way in ("annotations", "numbered", "as_written", None):
        assert render_report(answer, kind="find_claims", citations=way) == text


@pytest.mark.parametrize(
    "title",
    [
        "A](https://evil.org) [9",
        "line\nbreak\r\n[2] https://evil.org",
        "| a | b |\n|---|---|",
        "<https://evil.org> `code` **x",
        "https://https://evil.org/x",
        "hhttps://ttps://evil.org",
        "12",
        "\u202e\x00\u2028",
        "x" * 100_000,
    ],
)
def test_a_title_from_outside_cannot_break_the_list(title: str) -> None:
    text = "The town grew by a third. It then shrank by a half."
    answer = JobAnswer(
        outcome="report",
        text=text,
        annotations=(over(text, "third.", A, title), over(text, "half.", B, "Two")),
    )
    written = article(answer)
    assert [urls for _, urls in pairs(written)] == [(A,), (B,)]
    assert len(written) < 1_000
    assert len(written.split("## References\n\n")[1].splitlines()) == 2


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://x.org/a|b", "https://x.org/a%7Cb"),
        ("https://x.org/a[1]b", "https://x.org/a%5B1%5Db"),
        ('https://x.org/"q"/z', "https://x.org/%22q%22/z"),
        ("https://x.org/(odd", "https://x.org/(odd"),
        ("https://x.org/a.", "https://x.org/a"),
        (" https://x.org/wiki/A_(b) ", "https://x.org/wiki/A_(b)"),
    ],
)  # fmt: skip
def test_every_address_is_listed_so_that_it_is_read_as_the_same_page(url: str, page: str) -> None:
    text = "The town grew by a third."
    written = article(JobAnswer(outcome="report", text=text, annotations=(over(text, text, url),)))
    assert pairs(written) == [(text, (page,))]


@pytest.mark.parametrize(
    "url", ["ftp://a.org/x", "javascript:x", "", "not a url", "https://", "//a"]
)
def test_what_is_no_web_address_is_not_listed(url: str) -> None:
    text = "The town grew by a third."
    answer = JobAnswer(outcome="report", text=text, annotations=(over(text, text, url),))
    assert article(answer, "annotations") == text


def test_a_code_block_left_open_is_closed_before_the_list() -> None:
    text = "The town grew by a third.\n\n````python\nx = '```'\n"
    written = article(annotated(text, ("The town grew by a third.", A)))
    assert pairs(written) == [("The town grew by a third.", (A,))]


def test_more_pages_than_numbers_are_still_read() -> None:
    sentences = [f"Sentence number {n} says something of note." for n in range(1_005)]
    text = "\n\n".join(sentences)
    answer = annotated(text, *((s, f"https://a.org/{n}") for n, s in enumerate(sentences)))
    found = pairs(article(answer))
    assert found[-1] == (sentences[-1], ("https://a.org/1004",))
    assert [urls for _, urls in found] == [(f"https://a.org/{n}",) for n in range(1_005)]


TEXTS = st.text(st.sampled_from("ab Ö文\n\r\t .,!?()*_`~#>-|:;1é\u0301<\ue200\\"), max_size=80)
PLACES = st.none() | st.integers(-3, 90) | st.integers()
URLS = st.sampled_from([A, B, C, "https://x.org/a|b)", "ftp://x", ""]) | st.text(max_size=12)
ANNOTATIONS = st.lists(
    st.builds(Annotation, start=PLACES, end=PLACES, url=URLS, title=st.none() | st.text()),
    max_size=6,
)
OWN = re.compile(r"\[(?:\^s)?\d+\]|<sup>\d+</sup>")


@given(TEXTS, ANNOTATIONS)
@settings(deadline=None)
@example("a", [Annotation(start=0, end=1, url=A)])
@example("```\na", [Annotation(start=None, end=None, url=A)])
def test_without_markers_and_list_the_text_is_what_the_agent_wrote(
    text: str, annotations: list[Annotation]
) -> None:
    answer = JobAnswer(outcome="report", text=text, annotations=tuple(annotations))
    written = article(answer, "annotations")
    body = re.split(r"\n\n## (?:References|Additional sources)\n\n\[", written)[0]
    without = OWN.sub("", body)
    assert without.startswith(text)
    assert re.fullmatch(r"(?:\n(?:`+|~+))?", without[len(text) :])


@given(
    st.lists(st.sampled_from([*"ab [](){}12^【】†\n |-`:/.\\!<>", A, "[cite: 1]"])).map("".join),
    ANNOTATIONS,
    st.lists(st.builds(ReportSource, url=URLS, title=st.none() | st.text()), max_size=4),
    st.sampled_from(["after", "instead"]),
    st.sampled_from([None, "annotations", "numbered", "as_written"]),
)
@settings(deadline=None)
def test_no_answer_makes_it_raise(
    text: str, annotations: list[Annotation], sources: list[ReportSource], how: Any, way: Any
) -> None:
    answer = JobAnswer(
        outcome="report", text=text, annotations=tuple(annotations), marker_placement=how,
        sources=tuple(sources),
    )  # fmt: skip
    extract_claims("", article(answer, way))


def reports(agent: str) -> Sequence[Path]:
    return sorted((PUBLISHED / agent / "md_data").glob("*.md"))[:6]


@pytest.mark.published
@pytest.mark.parametrize("how", ["after", "instead"])
@pytest.mark.parametrize("agent", ["openai", "gemini_2.5_pro", "gemini_3_pro", "grok"])
def test_real_reports_come_out_with_the_pairs_they_had(agent: str, how: Any) -> None:
    """Their markers made places, or links in brackets with places, as interfaces give them."""
    if not reports(agent):
        pytest.skip("no published edition in ../shared")
    for path in reports(agent):
        original = path.read_text("utf-8")
        answer = as_answered(original, how)
        wanted = {(claim, url) for claim, urls in pairs(original) for url in urls}
        found = {(claim, url) for claim, urls in pairs(article(answer)) for url in urls}
        assert len(wanted & found) >= 0.99 * len(wanted), json.dumps(sorted(wanted - found)[:5])
        # A marker on a line of its own cites nothing explicitly; its place, the line before it.
        assert len(wanted & found) >= 0.9 * len(found), json.dumps(sorted(found - wanted)[:5])


def as_answered(original: str, how: Literal["after", "instead"]) -> JobAnswer:
    """A report without its markers and lists, and annotations where its markers stood."""
    cited = read_citations(original)
    references = cited.references
    cuts = [*cited.outline.references, *references.entries]
    body = [
        m for m in cited.markers if m.label is None and not any(a <= m.start < b for a, b in cuts)
    ]
    text, last = "", 0
    annotations: list[Annotation] = []
    for start, end, marker in sorted(
        [*((m.start, m.end, m) for m in body), *((a, b, None) for a, b in cuts)], key=itemgetter(0)
    ):
        if start < last:
            continue
        text += original[last:start]
        known = [references.find(n, marker.start) for n in marker.numbers] if marker else []
        for url in filter(None, [marker.url] if marker and marker.url else known):
            begin = max(0, len(text) - 30)
            if how == "instead":
                begin = len(text)
                text += f"([site]({url}))"
            annotations.append(Annotation(start=begin, end=len(text), url=url))
        last = end
    return JobAnswer(
        outcome="report",
        text=text + original[last:],
        annotations=tuple(annotations),
        marker_placement=how,
    )
