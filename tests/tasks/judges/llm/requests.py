"""One request of each kind, about texts whose words the oracle counts."""

from tasks.judges.decisions import Criterion
from tasks.judges.questions.check_citations import CheckCitations
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.compare_articles import CompareArticles
from tasks.judges.questions.grade_items import GradeItems, RubricItem
from tasks.judges.questions.grade_values import GradeValues, NamedValue
from tasks.judges.questions.match_claims import MatchClaims
from tasks.judges.questions.rate_keywords import RateKeywords
from tasks.judges.questions.rate_report import RateReport
from tasks.judges.questions.score_pair import ScorePair
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.questions.verify_support import VerifySupport
from tasks.warehouse.rubrics import BlockedSource

POOL = ("In 1889 the tower opened\nto visitors.", "It is made of iron.", "A river is near.")
CLAIMS = VerifyClaims(
    claims=("The tower opened in 1889.", "The tower opened in 1890.", "Painters earn little.",
            "It is made of iron.", "Nobody retrieved anything for this."),
    pool=POOL,
    retrieved=((0, 1), (0,), (2, 0), (2, 1), ()),
)  # fmt: skip
PAGE = "# Tower\nIn 1889 the tower opened to visitors. It is 3.5 km from the river.\nNo more."
ON_PAGE = VerifyAgainstPage(
    claims=("The tower opened in 1889.", "The tower opened in 1900.", "Painters earn little."),
    url="https://example.org/tower",
    page=PAGE,
)
PAIR = CompareArticles(
    category="well_written",
    criteria=tuple(Criterion(id=f"ww_cc_{n}", text=f"Criterion {n} is met.") for n in range(1, 13)),
    first="One text.",
    second="Another.",
)
MATCH = MatchClaims(
    question="Who wrote of engines?",
    truths=("Ada Lovelace", "Charles Babbage"),
    answered=("Lovelace, Ada", "Alan Turing", "C. B. [= Charles Babbage]", "ada lovelace!"),
)
VALUES = GradeValues(
    question="When and where?",
    values=(
        NamedValue(name="year", truth="May 1843", answered="1843 May"),
        NamedValue(name="place", truth="London", answered="near London [~]"),
        NamedValue(name="paper", truth="Notes", answered="Letters"),
    ),
)
LIGHTHOUSE = "The lighthouse was built in 1882. It was designed by James Douglass."
CITED = CheckCitations(
    claims=("The lighthouse was built in 1882.", "Seals live on Mars."), url="https://a.org/",
    page=LIGHTHOUSE,
)  # fmt: skip
SCORED = ScorePair(
    task="Why?", report=" ".join(map(str, range(60))), reference="Short.",
    criteria=(Criterion(id="insight-1", text="Depth: is it deep?"),
              Criterion(id="b", text="Order?")),
)  # fmt: skip
OWN = GradeItems(
    question="Why?", report=LIGHTHOUSE, asked_once=True, prompt="own_rubric/grade_items",
    items=(RubricItem(id="a", text="built in 1882", allowed=("0", "0.5", "2"),
                      instructions="Half is 0.5."),),
)  # fmt: skip
OWN_POINTS = CheckPoints(
    question="Why?", report=LIGHTHOUSE, points=("The lighthouse was built in 1882.",),
    prompt="own_rubric/check_points",
)  # fmt: skip
REPORT = "# Towers\n\nThe tower opened in 1889. It was painted red by hand.\n"
POINTS = CheckPoints(
    question="What of the tower?",
    report=REPORT,
    points=("The tower opened in 1889.", "The tower opened in 1906.", "Painters earn little."),
)
SUPPORT = VerifySupport(
    claims=("The tower opened in 1889.", "The tower was painted red in spring.", "Nobody came."),
    pages=("In 1889 the tower opened to visitors.", "Hands painted it red. A dog barked."),
)
RATE = RateReport(
    question="What of the tower?",
    report=REPORT,
    criteria=(Criterion(id="clarity", text="easy"), Criterion(id="insight", text="deep")),
)
KEYWORDS = RateKeywords(
    report="The vet, a vet and the vet: deworming.", keywords=("vet", "Deworming", "feral\ncat")
)
RUBRIC_TEXTS = (
    "Land sales reached 5.6 trillion yuan in 2021.",
    "Housing vouchers are explained at length.",
    "The tax reform of 1994 is named as the origin.",
)
RUBRIC = GradeItems(
    question="How is land finance changing?",
    report="Land sales reached 5.6 trillion yuan in 2021. Rain fell. "
    "The tax reform of 1994 is named as the origin (https://blocked.org/1).",
    items=tuple(
        RubricItem(id=f"info_recall-{number}", text=text, allowed=("1", "0", "-1"))
        for number, text in enumerate(RUBRIC_TEXTS, start=1)
    ),
    blocked=BlockedSource(title="The source", authors=("Wu",), urls=("https://blocked.org/1",)),
    prompt="rubric_bench/grade_items",
)
