"""Reports as agents write and export them: which page each claim cites, one test for each kind."""

import pytest

from tasks.extraction.claims import ExtractedClaims, extract_claims
from tasks.extraction.texts import cite_statements

A, B, C, D = (f"https://{letter}.example/page" for letter in "abcd")
NUMBERED = f"1. Nest sites, {A}\n2. Alates in spring, {B}\n3. Trails, {C}\n"
LIST = f"\n\n## References\n\n{NUMBERED}"


def read(report: str) -> list[tuple[str, list[str]]]:
    """Return each claim and the letters of the pages that it cites itself."""
    return pairs(extract_claims("Ants", report))


def pairs(found: ExtractedClaims) -> list[tuple[str, list[str]]]:
    return [
        (c.text, [k.raw_url[8] for k in c.citations if k.kind == "explicit"]) for c in found.claims
    ]


NEST, FLY, TRAIL = "Ants nest below warm stones.", "They fly in spring.", "They follow trails."
CITED = [(NEST, ["a"]), (FLY, ["b"]), (TRAIL, ["a"])]


@pytest.mark.parametrize(
    "listing",
    [
        f"#### **Works cited**\n\n{NUMBERED}",
        f"## 📚 References\n\n{NUMBERED}",
        f"## Appendix: Sources\n\n{NUMBERED}",
        f"## Quellen und Literatur\n\n{NUMBERED}",
        f"#### **引用的文献**\n\n{NUMBERED}",
        f"## 5. Referências bibliográficas\n\n{NUMBERED}",
        f"**แหล่งอ้างอิง**\n\n{NUMBERED}",
        f"## 参考文献 (References)\n\n{NUMBERED}",
        f"## Suggested References / Sources (2025)\n\n{NUMBERED}",
        f"## Works cited\n\n{NUMBERED}\n[image1]: <data:image/png;base64,{'iVBOR' * 99}>\n" * 2,
        f"## Mga sanggunian\n\n{NUMBERED}",
        f"---\n\n{NUMBERED}",
        f"| # | Title | Address |\n|---|---|---|\n| 1 | Nests | {A} |\n| 2 | Alates | {B} |\n",
        f"[1. Nest sites]({A})\n\n[2\\. Alates in spring]({B})\n",
        f"[1] Nest sites\n{A}\n\n[2] Alates in spring\n{B}\n",
        f"[[1]]({A}#:~:text=warm%20stones) Nest sites\n\n[{A}]({A})\n\n[[2]]({B}) Alates\n\n{B}\n",
        f"[1] {A} [2] {B}\n",
        f"Source 1: {A}\nSource 2: {B}\n",
    ],
)
def test_a_list_is_known_by_its_entries_under_any_heading_or_none(listing: str) -> None:
    text = "Ants nest below warm stones[1]. They fly in spring[2]. They follow trails[1].\n\n"
    assert read(text + listing) == CITED
    found = extract_claims("Ants", text + listing)
    assert found.pairs_reliable
    assert found.n_markers == found.n_resolved == 3
    assert found.n_entries >= 2


@pytest.mark.parametrize(
    "text",
    [
        "Ants nest below warm stones.1 They fly in spring.2 They follow trails.1",
        "Ants nest below warm stones 1. They fly in spring 2. They follow trails 1.",
        "[cite_start]Ants nest below warm stones[cite: 1]. They fly in spring [cite: 2]. "
        "They follow trails[cite: 1].",
        "Ants nest below warm stones[^1^]. They fly in spring[citation:2]. They follow trails "
        "[Source 1].",
        "Ants nest below warm stones.¹ They fly in spring.² They follow trails.¹",
        "Ants nest below warm stones.<sup>1</sup> They fly in spring.<sup>[2]</sup> They follow "
        "trails.<sup><a href='#n1'>1</a></sup>",
        "Ants nest below warm stones.\n\n[1]\n\nThey fly in spring.\n- [2]\n\nThey follow trails.\n"
        "\n(Source: [1])",
        f"Ants nest below warm stones <a href='{A}'>[Source: Nests]</a>. They fly in spring "
        f'<a target="_blank" href="{B}">[2]</a>. They follow trails <a href="{A}">Nests</a>.',
    ],
)
def test_markers_of_all_sorts_cite_and_leave_no_mark_in_the_claims(text: str) -> None:
    assert read(text + LIST) == CITED


def test_a_word_that_counts_keeps_its_number() -> None:
    text = "Ants nest below stones 1. They fly in phase 2. They sting 3, and bite 2."
    assert read(text + LIST) == [
        ("Ants nest below stones.", ["a"]), ("They fly in phase 2.", []),
        ("They sting, and bite.", ["c", "b"]),
    ]  # fmt: skip


def test_a_list_below_each_chapter_explains_its_own_numbers() -> None:
    text = "".join(
        f"## Part\n\nSuch ants bite [1]. They sting too [2].\n\nSources:\n[1] {x}\n[2] {y}\n\n"
        for x, y in ((A, B), (C, D))
    )
    assert [cited for _, cited in read(text)] == [["a"], ["b"], ["c"], ["d"]]


def test_links_without_numbers_are_a_list_only_where_the_report_cites_them() -> None:
    body = f"Ants nest below stones ([Nests]({A})). They fly in spring ([Alates]({B})).\n\n"
    links = f"- [Where the ants have nests]({A})\n- [When the ants do fly]({B})\n"
    assert len(read(f"{body}Key Citations\n\n{links}- [Trails that ants follow]({C})\n")) == 2
    assert len(read(body + links)) == 2
    tools = f"{body}## Top tools\n\n1. **Pooter** – sucks up ants without harm ([shop]({C})).\n"
    assert read(tools)[2] == ("Pooter – sucks up ants without harm.", ["c"])


def test_statements_that_end_in_a_number_or_link_are_no_entries() -> None:
    text = f"1. Ants nest below warm stones [(1)]({A}).\n2. They fly in spring [(2)]({B}).\n"
    assert [cited for _, cited in read(text + LIST)] == [["a"], ["b"]]


def test_a_list_that_nobody_recognised_does_not_make_pairs_reliable() -> None:
    found = extract_claims("Ants", f"Ants nest below stones.\n\n1. Nests: {A}\n\nThey fly, too.")
    assert not found.pairs_reliable
    tokens = "Ants nest below stones 【turn0search3】【turn1view0】. They fly [web:1, web:3]."
    found = extract_claims("Ants", tokens)
    assert pairs(found) == [("Ants nest below stones.", []), ("They fly.", [])][:1]
    assert found.pairs_reason == "3 citation markers, but no reference list with URLs"


def test_pairs_of_message_and_source_never_all_mean_one_page() -> None:
    text = "Ants nest below stones【4:0†source】. They fly in spring【4:1†source】."
    assert not extract_claims("Ants", text + f"\n\n## Sources\n\n4. {D}\n").pairs_reliable
    assert read(f"{text}\n\n## Sources\n\n【4:0†source】 {A}\n【4:1†source】 {B}\n")[1][1] == ["b"]


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        (f"蚂蚁在石头下面筑巢（{A}）。它们在春天飞行。", A),
        (f"Ants nest below stones (`{A}`).", A),
        (f"Ants nest below stones ({A}), and fly.", A),
        (f"Ants nest below stones ([Nests | Ants]({A}#:~:text=Ants nest,below (warm))).", A),
        (f"Ants nest below stones ([Do ants nest? Yes]({A}_(ant))).", f"{A}_(ant)"),
        (f"Ants nest below stones [[PDF] Nests]({A}).", A),
        (f"Ants nest below stones [![icon](i.png)]({A}).", A),
        ("Ants nest below stones [1](doi:10.1038/ants).", "https://doi.org/10.1038/ants"),
    ],
)  # fmt: skip
def test_an_address_ends_where_a_reader_ends_it(text: str, cited: str) -> None:
    [claim, *_] = extract_claims("Ants", text).claims
    assert [citation.url for citation in claim.citations] == [cited]
    assert not any(mark in claim.text for mark in ("](", "http", "`", "text="))


def test_sentences_of_chinese_and_japanese_are_told_apart() -> None:
    listed = f"\n\n## 参考文献\n\n[1] {A}\n[2] {B}"
    text = "蚂蚁在温暖的石头下面筑巢[1]。它们在春天飞行吗？是的，它们会飞[2]！"
    assert [cited for _, cited in read(text + listed)] == [["a"], [], ["b"]]
    text = "蟻は石の下に巣を作る[1]。春になると飛び立ちます[2]。"
    assert [cited for _, cited in read(text + listed)] == [["a"], ["b"]]
    assert (
        len(extract_claims("Ants", "Ants (Japanese: アリ！, Ari!) bite their hosts.").claims) == 1
    )


def test_pairs_in_a_language_that_cannot_be_split_are_not_reliable() -> None:
    found = extract_claims("Ants", f"มดทำรังใต้หินอุ่น[1] มดบินในฤดูใบไม้ผลิ[2]\n\n[1] {A}\n[2] {B}")
    assert "Thai" in (found.pairs_reason or "")


@pytest.mark.parametrize(
    "hidden",
    ['<span style="display:none">[3]</span>', "<!-- [3] -->", "<div hidden>They hide [3].</div>",
     "<span style='DISPLAY : none'>[3]"],
)  # fmt: skip
def test_what_a_reader_does_not_see_cites_and_states_nothing(hidden: str) -> None:
    text = f"Ants nest below warm stones [1].\n{hidden}\n\nThey fly in spring [2]."
    assert read(text + LIST) == CITED[:2]


def test_a_report_in_a_code_fence_is_read_and_code_is_not() -> None:
    plain = f"# Ants\n\n{NEST[:-1]} [1].\n\n```py\nants[1]  # They do not fly.\n```{LIST}"
    inside = plain.replace("```", "~~~")
    for fenced in (f"```markdown\n{inside}```", f"Here it is:\n\n````\n{plain}\n````\n"):
        assert read(fenced) == read(plain) == CITED[:1]
    assert read(f"```py\n# Ants\nprint('They fly in spring, and they bite.')\n```") == []  # noqa: F541


def test_marks_leave_the_statements_of_judges_too() -> None:
    report = "Ants nest below warm stones.1 They fly in spring.2" + LIST
    statements = [
        ("Ants nest below warm stones.1", ["1"]),
        ("They fly in spring [cite: 2].", ["2"]),
    ]
    found = cite_statements("Ants", report, statements)
    assert pairs(found) == [(NEST, ["a"]), (FLY, ["b"])]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (f"Ants nest below warm stones. Source: a survey of 2024 [1].{LIST}", [(NEST, ["a"])]),
        (f"- Ants nest below warm stones.\n- 来源：一项调查 [调查]({A})。\n", [(NEST, ["a"])]),
        (f"蚂蚁在石头下筑巢 [ants]({A})。它们在春天飞行 [b]({B})。它们跟随踪迹 [c]({C})。",
         [("蚂蚁在石头下筑巢。", ["a"]), ("它们在春天飞行。", ["b"]), ("它们跟随踪迹。", ["c"])]),
        (f"Ants nest below warm stones [[Issue 4]({A})].", [(NEST, ["a"])]),
        (f"---\r\ntitle: Ants\r\n---\r\n\r\n{NEST}\r\n", [(NEST, [])]),
        (f"---\n- {NEST}\n---\n\n{FLY}", [(NEST, []), (FLY, [])]),
        (9 * f"蚂蚁在春天飞行 [b]({B})\n\n" + f"他们都说 per [Ants]({C}).",
         [*9 * [("蚂蚁在春天飞行", ["b"])], ("他们都说 per Ants.", ["c"])]),
        (f"---\ntitle: Ants of hills\nurl: {B}\n---\n\n<img src=\"{C}\"/>\n\n{NEST}", [(NEST, [])]),
        (f"{NEST}\n\nReferences:\n[1] Nests, {A}\n\n" + 3 * "Ants of hills fly over hills [1].\n\n",
         [(NEST, []), *3 * [("Ants of hills fly over hills.", ["a"])]]),
        (r"The ant\_nest has 5 \* 3 `<doors>` and `_ROOMS`.",
         [("The ant_nest has 5 * 3 <doors> and _ROOMS.", [])]),
        (r"\* \*\*Ants\*\* nest below warm stones.", [(NEST, [])]),
    ],
)  # fmt: skip
def test_what_only_names_a_source_is_no_statement_and_words_stay_whole(
    text: str, claims: list[tuple[str, list[str]]]
) -> None:
    assert read(text) == claims
