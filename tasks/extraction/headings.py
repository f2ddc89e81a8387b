"""Recognise the headings of reference lists, in the languages of the reports that people publish.

A list under another heading, or under none, is recognised by its entries (`references`).
"""

import re

_ENGLISH = (
    r"(?:references?|reference list|sources?|citations?|works cited|bibliography|notes|footnotes|"
    r"endnotes|see also|external links?|further reading|literature cited)"
)
_ENGLISH_HEADING = (
    r"(?:appendix(?:\s[\dA-Z])?\s?[:.–-]\s?)?"
    r"(?:(?:selected|suggested|recommended|prioriti[sz]ed|full|complete|key|"
    r"cited|list of|main|primary|secondary|additional|academic|official|web|source)\s)*"
    rf"{_ENGLISH}(?:\s?(?:and|&|/)\s?(?:data\s)?{_ENGLISH})*"
    r"(?:\s(?:index|table|list|used|utilized|cited|consulted|"
    r"used in this (?:report|article|section|study|paper)))*"
)
_OTHER_WORDS = r"""
quellen(?:verzeichnis|angaben|nachweise?)?|literatur(?:verzeichnis|angaben)?|einzelnachweise|
referenzen|nachweise|belege|fußnoten|zitierte werke|verwendete quellen|
références|sources citées|bibliographie|ouvrages cités|liens externes|webographie|
referencias|fuentes|bibliografía|obras citadas|notas|enlaces externos|
referências|fontes|bibliografia|trabalhos citados|links externos|
fonti|riferimenti|opere citate|note|sitografia|collegamenti esterni|
bronnen|bronvermelding|bronnenlijst|referenties|geciteerde werken|literatuur|
źródła|przypisy|cytowane prace|literatura|źródła cytowań|
kilder|referencer|källor|referenser|referanser|lähteet|viitteet|zdroje|források|hivatkozások|
surse|referințe|bibliografie|lucrări citate|referències|fonts|
источники|литература|ссылки|примечания|использованные источники|цитированные источники|
джерела|література|посилання|цитовані джерела|πηγές|αναφορές|βιβλιογραφία|
kaynaklar|kaynakça|alıntılanan çalışmalar|referanslar|
参考(?:文献|资料|資料|来源|链接|網站|网站|書目|书目)|參考(?:文獻|資料|來源|連結)|
引用(?:的|した)?(?:文献|文獻|来源|來源|著作|元)?|(?:资料|資料|信息|数据|數據|主要|引文|研究)(?:来源|來源)|来源|來源|
文献(?:来源)?|来源(?:链接|清单)|(?:相关|参考)?链接|注释|註釋|脚注|腳註|出典|情報源|参照|参考|参考サイト|
참고\s?(?:문헌|자료)|출처|인용\s?(?:된\s)?(?:문헌|자료)|각주|
(?:แหล่ง|เอกสาร|รายการ)?อ้างอิง|บรรณานุกรม|แหล่งข้อมูล|แหล่งที่มา|ผลงานที่อ้างอิง|
tài liệu tham khảo|nguồn(?: tham khảo| trích dẫn| tài liệu)?|
referensi|daftar pustaka|sumber|karya yang dikutip|rujukan|
(?:ال)?(?:مراجع|مصادر)|الأعمال المقتبس منها|מקורות|ביבליוגרפיה|منابع|संदर्भ|स्रोत|उद्धृत कार्य
"""
_OTHER = "(?:" + _OTHER_WORDS.replace("\n", "") + ")"
_BESIDE = (
    r"(?:citad[ao]s|consultad[ao]s|bibliográfic[ao]s|utilizad[ao]s|bibliografiche|citate|consultate|"
    r"bibliographiques|列表|清单|汇总|匯總|举例|舉例|一覧|リスト|とリンク集|目录|목록)"
)
_OTHER_HEADING = (
    rf"(?:附录\s?\w?[:：]?\s?)?(?:关键|主要|重要|相关|核心|外部|最终|核[对對查]|(?:数据|资料)[与和及])*{_OTHER}(?:\s?(?:und|et|y|e|en|i|и|та|ve|和|与|及|・|&|/)\s?{_OTHER})*"
    rf"(?:\s?{_BESIDE})*"
)
HEADING = f"(?:{_ENGLISH_HEADING}|{_OTHER_HEADING})"
"""Pattern of a heading that introduces references, notes, links or a bibliography."""
_HEADING = re.compile(HEADING, re.IGNORECASE)
_NUMBERING = re.compile(
    r"^(?:\d{1,3}(?:\\?\.\d{1,3})*\\?[.)]?|[IVX]{1,5}\.)\s+|^[一二三四五六七八九十]{1,3}、\s*"
)
_LETTERED = re.compile(rf"{_NUMBERING.pattern}|^[A-Z]\.\s+")
_MARKUP = re.compile(r"\\(?=[^\w\s])|[*_`]{1,3}|<[^<>]{0,200}>")
_REMARK = re.compile(r"\s*(?:\([^()]{1,60}\)|（[^（）]{1,60}）|\\?\[[^\[\]]{1,60}\])$")
_TRANSLATED = re.compile(r"\s*[|/｜／]\s*")
_DECORATION = re.compile(r"^[^\w(\[]+|[^\w)\].!?%+#\"'”’…]+$")
"""Emoji and rules around a heading's words."""


def is_reference_heading(heading: str) -> bool:
    """Whether a heading introduces references, notes, links or a bibliography, also in two
    languages or with a remark in parentheses: `来源 | Sources`, `Sources (2025)`."""
    words = _REMARK.sub("", strip_heading_markup(heading)[:200].rstrip(" :："))
    parts = _TRANSLATED.split(_LETTERED.sub("", _DECORATION.sub("", words)))
    return all(_HEADING.fullmatch(part) for part in parts)


def strip_heading_markup(heading: str) -> str:
    """Return a heading's text without numbering and markup."""
    words = _NUMBERING.sub("", _MARKUP.sub("", heading).strip()).strip(" :*")
    return words if any(character.isalnum() for character in words) else ""
