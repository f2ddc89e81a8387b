"""FACT: which share of a report's citations is supported, and how many are?

Source: DeepResearch Bench (arXiv 2506.11763 and its published code). A citation is a claim with one
address. It is supported if the page contains a part of what the claim says: this is more lenient
than Wiki Fact and DeepResearchGym and not comparable with them. Statements that differ only in
case, spacing and final punctuation are one citation of a page, and so are a claim's redirects that
led to one; the published code asks a model which statements are the same. Pairs that a claim was
given across the end of its paragraph do not count: in the paper, a model says which address a
statement cites.
"""

from collections.abc import Sequence
from unicodedata import normalize

import polars as pl

from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.judges.decisions import SUPPORTED, UNSUPPORTED, Judge, JudgeAnswer
from tasks.judges.questions.check_citations import CheckCitations
from tasks.judges.text import collapse_whitespace, has_words
from tasks.metrics.ratios import SHARE_SCHEMA, compute_shares
from tasks.protocols.case import (
    Case,
    ItemAnswer,
    JudgedReports,
    Protocol,
    gather_answers,
    name_answers,
)
from tasks.protocols.declarations import Bounds, build_version, parse_parameters
from tasks.protocols.figures import add_reasons, build_figures, find_unreliable
from tasks.protocols.redirects import Redirects
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import OPEN_STATUSES, Citation, Status

CITATION, DOUBLE = "citation", "double"
NEVER_FETCHED = "the page has never been fetched"
NO_CITATIONS = "no claim of the report cites a page by a marker in its paragraph"
NOT_DECIDED = "no citation of this report was decided"
STILL_OPEN = "citations of this report are still to be decided"
_TRAILING_PUNCTUATION = " .,;:!?…。！？"


class FactFramework(Protocol):
    """Checks a report against the pages that it cites."""

    name = "fact"
    prompts = "fact"
    inputs: tuple[str, ...] = ("claims", "pairs", "pages")
    kinds: tuple[str, ...] = ("write_article", "research")
    bounds = Bounds({CITATION: (UNSUPPORTED, SUPPORTED)})
    marks_claims = "pairs"
    partly_supported = ("valid_rate", "as supported in FACT")

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics, self.missing = entry.metrics, entry.missing
        parse_parameters(entry, ConfigModel)  # it has none
        self.version = build_version(entry)

    def supports(self, judge: Judge) -> bool:
        return CheckCitations in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        """Judge each page with all the different statements that cite it."""
        texts, pages = case.claim_texts, case.pages_by_url
        return await gather_answers(
            _judge_page(pairs, texts, pages.get(url), judge)
            for url, pairs in case.attributed_by_url.items()
        )

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        citations = _merge_redirects(_mark_open(judged.select_step(CITATION)), judged.redirects)
        decided = pl.col("label").is_in([SUPPORTED, UNSUPPORTED])
        supported = pl.col("label") == SUPPORTED
        valid = compute_shares(citations.filter(decided | pl.col("open")), supported)
        figures = {
            "valid_rate": (valid, NOT_DECIDED),
            "effective_citations": (_count_citations(citations, supported), NO_CITATIONS),
            "decided_citations": (_count_citations(citations, decided), NO_CITATIONS),
            "citation_evaluated_share": (compute_shares(citations, decided), NO_CITATIONS),
        }
        built = [build_figures(m, table, judged, empty) for m, (table, empty) in figures.items()]
        rows = pl.concat(built)
        still_open = citations.filter("open").select(
            pl.col("assignment").unique(), because=pl.lit(STILL_OPEN)
        )
        return add_reasons(add_reasons(rows, still_open), find_unreliable(judged))


async def _judge_page(
    pairs: Sequence[Citation], texts: dict[int, str], page: Page | None, judge: Judge
) -> list[ItemAnswer]:
    """Judge the citations of one page; duplicates are recorded but not counted."""
    first: dict[str, Citation] = {}
    doubles = []
    for pair in pairs:
        same = first.setdefault(_normalise_statement(texts[pair.number]), pair)
        if same is not pair:
            answer = JudgeAnswer(
                status=Status.SKIPPED, reason=f"says the same as claim {same.number}"
            )
            doubles.append(ItemAnswer(step=DOUBLE, item=_item_name(pair), answer=answer))
    kept = list(first.values())
    answers = await _ask_judge([texts[pair.number] for pair in kept], kept[0].url, page, judge)
    return name_answers(CITATION, map(_item_name, kept), answers) + doubles


async def _ask_judge(
    claims: Sequence[str], url: str, page: Page | None, judge: Judge
) -> Sequence[JudgeAnswer]:
    if page is None:
        return [JudgeAnswer(status=Status.SKIPPED, reason=NEVER_FETCHED)] * len(claims)
    if page.status != "ok" or not page.text or not has_words(page.text):
        reason = f"{page.status}: {page.error or 'its text is missing'}"
        return [JudgeAnswer(status=Status.UNFETCHABLE, reason=reason)] * len(claims)
    return await judge.decide(CheckCitations(claims=tuple(claims), url=url, page=page.text))


def _item_name(pair: Citation) -> str:
    return f"claim:{pair.number} {pair.url}"


def _normalise_statement(text: str) -> str:
    """Normalise case, spacing and final punctuation, to find equal statements. Other signs count:
    `-5.3` is not `5.3`, nor `C++` `C`."""
    line = collapse_whitespace(normalize("NFC", text).casefold())
    return line.rstrip(_TRAILING_PUNCTUATION) or line


def _mark_open(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Return citations with their label (null unless decided) and whether they are open: the judge
    failed, or the page was never fetched. The others are final and get the status `ok`, even if
    they cannot be decided."""
    still_open = pl.col("status").is_in([*OPEN_STATUSES, Status.SKIPPED])
    return verdicts.with_columns(
        label=pl.when(pl.col("status") == "ok").then(pl.col("label")),
        open=still_open,
        status=pl.when(still_open)
        .then(pl.lit(str(Status.JUDGE_ERROR)))
        .otherwise(pl.lit(str(Status.OK))),
    )


def _merge_redirects(citations: pl.DataFrame, redirects: Redirects) -> pl.DataFrame:
    """Keep one citation of a claim's redirects to the same page, a decided one if there is one."""
    claim, url = (pl.col("item").str.splitn(" ", 2).struct[n] for n in (0, 1))
    best_first = citations.sort(pl.col("label").is_null(), "open", maintain_order=True)
    return best_first.filter(
        pl.struct("assignment", claim, page=url.replace(redirects)).is_first_distinct()
    )


def _count_citations(citations: pl.DataFrame, hit: pl.Expr) -> pl.DataFrame:
    """Count the matching citations of each report that cites anything. A report with open citations
    gets no count, as it would be too low."""
    return (
        citations.group_by("assignment")
        .agg(
            numerator=hit.fill_null(False).sum().cast(pl.Float64),
            n_items=(~pl.col("open").any()).cast(pl.Int64),
            n_open=pl.col("open").sum().cast(pl.Int64),
        )
        .select(list(SHARE_SCHEMA))
        .sort("assignment")
    )
