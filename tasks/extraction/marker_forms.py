"""The forms of citation markers in reports, in one table.

A form is *unmistakable*, so that a marker without an entry counts as one that leads nowhere, or
*needs an entry*: it is a marker only where the report's reference list explains its key.
docs/reference/citations.md shows the same table; a test holds the two together.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

WORDS = (
    r"(?:cit(?:e|es|ation|ations|ed)|sources?|src|refs?\.?|references?|web\s?pages?|footnote|fn\.?|"
    r"docs?|documents?|results?|来源|來源|引用|引用来源|参考|參考|参考文献|资料|文献|出典|注|网页|網頁|資料|"
    r"출처|참고|quellen?|fuentes?|fontes?|fonti|réf(?:érence)?s?|bron(?:nen)?|źródło|źródła|kilde|"
    r"источники?|nguồn|อ้างอิง|ที่มา|kaynak|sumber|المصدر)"
)
_SEPARATOR = r"\s?(?:[,;、，；]\s?(?:and\s|&\s)?|and\s|&\s?|[–—‑‐‒-]\s?)"
_NUMBER = rf"\^?(?:{WORDS}\s?[:：#]?\s?)?\d{{1,3}}(?!\d)\^?"
NUMBERS = rf"{_NUMBER}(?:{_SEPARATOR}{_NUMBER})*"
_MANY = r"\d{1,3}(?:\s?[,;、，–—‑-]\s?\d{1,3})*"
_PART = re.compile(r"(\d{1,3})(?:\s?\^?\s?[–—‑‐‒-]\s?\^?(?:[^\W\d_]+\s?[:：#]?\s?)?(\d{1,3}))?")
_TOKEN = r"turn\d{1,4}[a-z]{2,20}\d{1,4}"
_KINDS = (
    r"(?:web|file|page|post|memory|image|chart|code_file|generated_image|attached_file|web_search|"
    r"search|oaicite|conversation_history|x_post|video|news)"
)
_NOT_COUNTING = (
    r"(?<!\bfig)(?<!\bfigs)(?<!\bno)(?<!\bnos)(?<!\bvol)(?<!\bsec)(?<!\bch)(?<!\bp)(?<!\bpp)"
    r"(?<!\beq)(?<!\bver)(?<!\bv)(?<!\bart)(?<!\bpara)(?<!\bnr)(?<!\bbd)(?<!\bapp)(?<!\btab)"
)
_YEAR = r"(?<![\d.,])(?:1[5-9]|20)\d\d"
_WIDE = "\u3040-\u30ff\u3400-\u9fff"
_AFTER_STOP = (
    r"(?=$|[\s|*_)\]\"”’,;!?…、。，；！？）」』】]|[.:](?!\d)"
    rf"|(?<=[。！？]\d)[{_WIDE}]|(?<=[。！？]\d\d)[{_WIDE}])"
    r"(?!\s?%|,\d|\s?[日月年時时分秒歳岁人個个回件名步倍天小元篇万億亿类種种阶功款周週号號位条條项項次章节節层層页頁]|[はがをものとやにで])"
)
_COUNTING = (
    r"phase|table|type|layer|figures?|fig|step|stage|level|chapters?|sections?|part|volume|vol|pages?|pp?|"
    r"no|nos|number|nr|version|v|grade|tier|day|week|month|year|quarter|q|round|season|episode|article|"
    r"rule|item|option|zone|unit|row|column|appendix|equation|eq|box|query|law|objective|hurdle|axis|"
    r"node|theorem|lemma|exhibit|annex|scenario|criterion|sdg|scope|pillar|port|windows|gpt|llama|"
    r"gemini|claude|python|ios|android|covid|vitamin|apollo|omega|factor|top|case|"
    r"an?|the|this|these|those|its|their|all|any|some|each|every|both|only|just|first|last|next|"
    r"in|on|at|by|to|of|for|from|with|about|around|over|under|than|least|most|nearly|almost|"
    r"approximately|roughly|up|between|and|or|per|versus|vs|plus|minus|times|is|are|was|were|be|been|"
    r"equals?|exceeds?|total(?:s|ed)?|score[sd]?|ranks?|ranked|aged?|ages|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|one|two|three|four|five|six|seven|eight|nine|ten|"
    r"passo|etapa|estágio|tabela|tabla|figura|seção|sección|capítulo|parte|nível|nivel|fase|tipo|versão|"
    r"versión|artigo|artículo|página|quadro|item|os?|as?|de|d[aoe]s?|em|en|n[ao]s?|por|para|com|con|e|y|"
    r"ou|até|entre|cerca|janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|"
    r"novembro|dezembro|phase|schritt|tabelle|abschnitt|kapitel|teil|stufe|von|bis|auf|der|die|das|den|"
    r"und|oder|étape|tableau|partie|chapitre|niveau|du|les?|la|des|bước|phần|chương|bảng|hình|đoạn"
)
_COUNTS = re.compile(rf"(?:^|[^\w])(?:{_COUNTING})[.\s]*$", re.IGNORECASE)
_MEASURED = re.compile(
    r"\b(?:(?:the|an?|this|its|their)\s(?:[\w-]+,?\s){1,3}|(?:per|all|each|every)\s)"
    r"(?:season|column|year|week|month|day|age|volume|unit|axis|level|scenario|stage|time)s?\W*$"
)
"""A word that may count, but not here: `in the wet season 2.`"""
_NAME = re.compile(r"\b[A-Z][^\W_]*[*_\s]*$")
_BASE = re.compile(r"(?<![\d.,])(?<![A-Za-z\d][-–])(?:10|\d)$|(?<![A-Za-z])[b-z]$")
_SQUARED = re.compile(
    r"(?<![A-Za-z])(?:[b-hj-zµ]|[b-df-hj-np-tv-xzµ]{2}|mi|in|cu|CO|H2O)\s?$", re.IGNORECASE
)
"""Ends in a letter that stands for something, or in a unit or letters without a vowel."""
_FORMULA = re.compile(r"\\[A-Za-z]+$|[A-Za-z]\([^()]{0,9}\)$|\$[A-Za-z({\\][^\s$]{0,10}$")
_SIGNS = tuple("⁻⁺₀₁₂₃₄₅₆₇₈₉")
"""What stands beside exponents and charges, not beside marks."""
RAISED_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

Certainty = Literal["unmistakable", "needs an entry"]


@dataclass(frozen=True, slots=True)
class FormMatch:
    """A marker of a form: `text[start:end]`, and the keys by which a list names its sources."""

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MarkerForm:
    """One row of the table."""

    name: str
    example: str
    key: str
    """What names the source, in words."""
    certainty: Certainty
    pattern: re.Pattern[str]
    """The group `keys` holds the keys."""
    signs: str | tuple[str, ...] = ""
    """Characters or words of which one occurs in each marker of the form; empty if none does."""
    raised: bool = False
    """Whether it may be an exponent: then none counts after a lone digit, 10 or a unit."""
    least: int = 1
    """Markers of this form that a report must have for any of them to count."""

    @property
    def is_bare(self) -> bool:
        """Whether nothing around the number says that it is a citation."""
        return self.least > 1 or self.name == "number behind the full stop"

    def find(self, text: str, entries: Collection[str] = ()) -> Iterator[FormMatch]:
        """Yield the form's markers; where it needs an entry, those with one of these keys."""
        if self.signs and not any(sign in text for sign in self.signs):
            return
        for match in self.pattern.finditer(text):
            at = match.start("mark")
            end = match.end("mark")
            number = match["keys"].translate(RAISED_DIGITS)
            if self.raised and (
                text.startswith(_SIGNS, end) or is_exponent(text[max(0, at - 40) : at], number)
            ):
                continue
            if self.least > 1 and _is_counted(text, at, end):
                continue
            keys = _read_keys(match["keys"], entries)
            if self.certainty == "needs an entry":
                if not keys or not all(key in entries for key in keys):
                    continue
            elif text[at] in "[\\" and "0" in keys and "0" not in entries:
                continue  # an array or its index
            yield FormMatch(at, end, keys)


def _form(
    name: str,
    example: str,
    key: str,
    certainty: Certainty,
    pattern: str,
    **rest: bool | int | str | tuple[str, ...],
) -> MarkerForm:
    compiled = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    return MarkerForm(name, example, key, certainty, compiled, **rest)  # type: ignore[arg-type]


MARKER_FORMS: tuple[MarkerForm, ...] = (
    _form("private-use mark", "\ue200cite\ue202turn9view4\ue201", "the token", "unmistakable",
          r"(?P<mark>(?:\ue200|\\ue200)(?P<keys>[^\ue200\n]{0,400}?)(?:\ue201|\\ue201))",
          signs="\ue200\\"),
    _form("agent's internal token", "【turn0search3】", "the token", "unmistakable",
          rf"(?P<mark>(?:[【\[(]\s?)?(?P<keys>(?:cite)?{_TOKEN}(?:[,\s]{{0,3}}{_TOKEN})*)"
          r"(?:†[^【】\n]{0,300})?(?:\s?[】\])])?)", signs=("turn", "Turn")),
    _form("kind and number", "[web:1, web:3]", "kind and number", "unmistakable",
          rf"(?P<mark>(?::contentReference)?[\[【](?P<keys>\^?{_KINDS}:\s?\d{{1,4}}(?:[,;]\s?"
          rf"(?:{_KINDS}:)?\s?\d{{1,4}})*)(?:†[^【】\[\]\n]{{0,300}})?[\]】](?:\{{index=\d+\}})?)",
          signs="[【"),
    _form("number in brackets", "[1, 3–5]", "number", "unmistakable",
          rf"(?P<mark>\\?\[(?:\\?\[)?\s?(?P<keys>{NUMBERS})(?:†[^\[\]\n]{{0,200}})?\s?(?:\\?\])?"
          r"\\?\](?:\((?!https?:|www\.)[^()\s]{0,300}\))?)", signs="["),
    _form("pair in lenticular brackets", "【4:1†source】", "the pair", "unmistakable",
          r"(?P<mark>【(?P<keys>\d{1,4}[:：]\d{1,4})(?:†[^【】\n]{0,300})?】)", signs="【"),
    _form("number in full-width brackets", "【1†source】", "number", "unmistakable",
          rf"(?P<mark>[【〔〖⟦［]\s?(?P<keys>{NUMBERS})(?:†[^【】\n]{{0,300}})?\s?[】〕〗⟧］])",
          signs="【〔〖⟦［"),
    _form("footnote", "[^name]", "name", "unmistakable",
          r"(?P<mark>\\?\[\^(?P<keys>[^\W_][\w.:-]{0,40})\^?\\?\])", signs="^"),
    _form("superscript tag", "<sup>1</sup>", "number", "unmistakable",
          r"(?P<mark><sup[^<>]{0,100}>\s?(?:<a\b[^<>]{0,300}>)?\s?\\?\[?"
          rf"(?P<keys>{NUMBERS})\\?\]?\s?(?:</a>)?\s?</sup>)", raised=True, signs="<"),
    _form("citation tag", '<cite index="0-1">', "its index", "unmistakable",
          r"(?P<mark><(?:cite|ref|grok:render)\b[^<>]{0,80}?\b(?:index|id|card_id)="
          r"[\"']?(?P<keys>[\w,.:-]{1,60})[^<>]{0,200}>"
          r"(?:(?:(?!</?grok).){0,300}</grok:render>)?)", signs="<"),
    _form("other mark in lenticular brackets", "【F:notes.md†L1】", "what is before the dagger",
          "unmistakable", r"(?P<mark>【(?P<keys>[^【】†\n]{1,200})†[^【】\n]{0,300}】)", signs="†"),
    _form("superscript digits", "¹", "number", "needs an entry",
          r"(?P<mark>[\[⁽]?(?P<keys>[⁰¹²³⁴-⁹]{1,3}(?:[⁻⸴˒,'·⁺ ]{1,2}[⁰¹²³⁴-⁹]{1,3}){0,20})[\]⁾]?)",
          raised=True, signs="⁰¹²³⁴⁵⁶⁷⁸⁹"),
    _form("label in brackets", "[S3]", "label", "needs an entry",
          r"(?P<mark>\\?\[(?P<keys>[^\W_][\w.:+-]{0,40}(?:[,;]\s?[^\W_][\w.:+-]{0,40}){0,9})\\?\])",
          signs="["),
    _form("word and number in parentheses", "(Source 3)", "number", "needs an entry",
          rf"(?P<mark>[(（{{](?P<keys>{WORDS}\s?[:：#]?\s?{NUMBERS})[)）}}])", signs="(（{"),
    _form("caret", "^1^", "number", "needs an entry",
          rf"(?P<mark>\$?\\?\^[{{(\[]{{0,2}}(?P<keys>{_MANY})[}})\]]{{0,2}}\\?\^?\$?)(?![\w^])",
          raised=True, signs="^"),
    _form("number in parentheses", "(1).", "number", "needs an entry",
          rf"[^\W\d_][.。”\"’)]{{0,2}} ?(?P<mark>[(（{{](?P<keys>{_MANY})[)）}}])"
          r"(?=\s{0,2}(?:[.,;:!?。，；、|(\[（]|$))", least=3, signs="(（{"),
    _form("number behind the full stop", "canals.2 The", "number", "needs an entry",
          rf"(?:[^\W\d_]|[%°$€£)\]”\"’`]|{_YEAR}(?=[^\d]{{1,4}}\d{{1,3}}(?:\s+(?-i:[^\W\da-z_][^\WA-Z_]|[AI]\b)|\s*$|\s*\|)))"
          rf"(?=[^\w\s]{{1,9}}\d){_NOT_COUNTING}(?<!^\w)(?<![\s#*(][A-Za-z])"
          r"[)*_`\"”’]{0,4}\\?[.,;:!?…。！？，；、：)\"”’」』）][)*_`\"”’\]]{0,4}"
          rf"(?P<mark>(?P<keys>{_MANY})){_AFTER_STOP}"),
    _form("number before the full stop", "canals 2.", "number", "needs an entry",
          rf"(?:[^\W\d_]|[%)\]”\"’*]|[A-Za-z]-?[₀-₉\d]{{1,2}}|−\d{{1,2}}|{_YEAR})"
          rf"[)\"”’*_]{{0,3}} (?P<mark>(?P<keys>{_MANY}))"
          r"(?=[)\"”’*_]{0,3}(?:[.,;!?](?:[\s\"”’)*_]|$)|:(?=\s)|[。，；！？、）」』)]|\s?\||\s*$)"
          r"|(?<=[)\"”’*] \d)(?=\s[a-z])|(?<=[)\"”’*] \d\d)(?=\s[a-z]))", least=3),
    _form("number behind a blank", "運河 2 、", "number", "needs an entry",
          rf"[{_WIDE}」』）】][*_]{{0,3}}[:：]? (?P<mark>(?P<keys>{_MANY}))"
          rf"(?=\s*$|\s?[|、。，；！？」』）)]|\s[{_WIDE}])", least=3),
    _form("number glued to a word", "canals2.", "number", "needs an entry",
          rf"(?-i:[a-z]{{3}})[)”\"’*_]{{0,3}}(?P<mark>(?P<keys>{_MANY}))"
          r"(?=[)\"”’*_]{0,3}(?:[.,;](?:[\s\"”’)*_]|$)|\s?\|))", least=5),
)  # fmt: skip
"""In the order of precedence. Links, addresses and reference links (`[words][1]`) come before
them; a number alone at the end of a line (`on one." 6`) comes last (`citations`)."""
_KEYS_OF_TOKENS = re.compile(rf"{_TOKEN}|{_KINDS}:\s?\d{{1,4}}", re.IGNORECASE)
MAX_RANGE = 100


def is_exponent(before: str, number: str) -> bool:
    """Whether a raised number belongs to what is before it: 10⁶, km², O(n)², but not 1907¹²."""
    base = before[-40:].rstrip("*_\\ ")
    if base.endswith(_SIGNS):
        return True
    base = base.rstrip("$")
    squared = number in ("2", "3") and _SQUARED.search(base) is not None
    return squared or any(pattern.search(base) for pattern in (_BASE, _FORMULA))


def _is_counted(text: str, start: int, end: int) -> bool:
    """Whether a number belongs to the word before it: `phase 2`, `Stage 3:`."""
    before = text[max(0, start - 60) : start]
    if text[end : end + 1] == ":" and _NAME.search(before):
        return True
    return _COUNTS.search(before) is not None and not _MEASURED.search(before)


def expand_numbers(numbers: str) -> tuple[str, ...]:
    """Expand `1, 3-5` to 1, 3, 4, 5. Of descending ranges or those over 100, keep the two ends."""
    found: list[str] = []
    for low, high in _PART.findall(numbers):
        if high and 0 < int(high) - int(low) <= MAX_RANGE:
            found += (str(number) for number in range(int(low), int(high) + 1))
        else:
            found += (str(int(number)) for number in (low, high) if number)
    return tuple(dict.fromkeys(found))


def _read_keys(raw: str, entries: Collection[str]) -> tuple[str, ...]:
    """Return the keys in a marker, as a list names them."""
    raw = raw.strip(" ^")
    if raw in entries:
        return (raw,)
    if tokens := _KEYS_OF_TOKENS.findall(raw):
        return tuple(dict.fromkeys(token.replace(" ", "") for token in tokens))
    if raw[:1] in "⁰¹²³⁴⁵⁶⁷⁸⁹" and raw:
        return _read_raised(raw, entries)
    pair = re.fullmatch(r"(\d{1,4})([:：-])(\d{1,4})", raw)
    if pair and (pair[2] != "-" or int(pair[3]) <= int(pair[1])):
        return (f"{pair[1]}{pair[2].replace('：', ':')}{pair[3]}",)
    if re.fullmatch(rf"{NUMBERS}|{WORDS}\s?[:：#]?\s?{NUMBERS}", raw, re.IGNORECASE):
        return expand_numbers(raw)
    return tuple(re.split(r"[,;]\s?", raw)) if raw and "ue202" not in repr(raw) else ()


def _read_raised(raw: str, entries: Collection[str]) -> tuple[str, ...]:
    keys: list[str] = []
    for run in re.findall(r"[⁰¹²³⁴-⁹]+", raw):
        digits = run.translate(RAISED_DIGITS)
        keys += [digits] if digits in entries else digits
    return tuple(dict.fromkeys(keys))
