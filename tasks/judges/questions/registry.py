"""The questions that are asked by each folder of `configs/prompts`.

A folder is named like its protocol or step of the pipeline. The reply forms of its questions are
part of every request, so they are part of the prompts' sha, in this order: another form makes the
cells pending that rest on it.
"""

from tasks.configuration.errors import ConfigurationError
from tasks.judges.decisions import PromptedRequest
from tasks.judges.questions.answer_question import AnswerClosedBook, AnswerFromPage
from tasks.judges.questions.check_citations import CheckCitations
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.check_rubrics import CheckRubrics
from tasks.judges.questions.compare_articles import CompareArticles
from tasks.judges.questions.draft_keywords import DraftKeywords
from tasks.judges.questions.draft_rubrics import DraftRubrics
from tasks.judges.questions.estimate_difficulty import EstimateDifficulty
from tasks.judges.questions.extract_key_points import ExtractKeyPoints
from tasks.judges.questions.extract_statements import ExtractClaims, ExtractFacts
from tasks.judges.questions.find_others import FindOthers
from tasks.judges.questions.find_targets import FindTargets
from tasks.judges.questions.grade_items import GradeItems
from tasks.judges.questions.grade_values import GradeValues
from tasks.judges.questions.match_claims import MatchClaims
from tasks.judges.questions.merge_key_points import MergeKeyPoints
from tasks.judges.questions.pose_question import PoseQuestion
from tasks.judges.questions.rate_keywords import RateKeywords
from tasks.judges.questions.rate_report import RateReport
from tasks.judges.questions.score_pair import ScorePair
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.questions.verify_support import VerifySupport
from tasks.judges.questions.write_closed_book import WriteClosedBook
from tasks.judges.replies import ReplyModel, render_schema
from tasks.warehouse.rows import content_sha

QUESTIONS: dict[str, tuple[type[PromptedRequest], ...]] = {
    "wiki_fact": (VerifyClaims, VerifyAgainstPage),
    "wiki_writing": (CompareArticles,),
    "claim_discovery": (MatchClaims, GradeValues),
    "research_gym": (CheckPoints, VerifySupport, RateReport),
    "rubric_bench": (GradeItems,),
    "rigorous": (GradeItems, RateKeywords),
    "own_rubric": (GradeItems, CheckPoints),
    "race": (ScorePair,),
    "fact": (CheckCitations,),
    "extraction": (ExtractFacts, ExtractClaims),
    "research_extraction": (ExtractClaims,),
    "key_points": (ExtractKeyPoints, MergeKeyPoints),
    "inversion": (
        FindTargets, PoseQuestion, FindOthers, AnswerClosedBook, AnswerFromPage, EstimateDifficulty
    ),
    "drafting": (DraftRubrics, CheckRubrics, DraftKeywords, WriteClosedBook),
}  # fmt: skip


def declare_prompts(folder: str, *questions: type[PromptedRequest]) -> str:
    """Declare which questions the prompts of a folder ask, and return the folder's name. Protocols
    of other packages do so where they are defined.

    Raises:
        ConfigurationError: somebody else has declared other questions for it.
    """
    if QUESTIONS.setdefault(folder, questions) != questions:
        raise ConfigurationError(
            f"The prompts in configs/prompts/{folder} are declared twice, with different questions."
        )
    return folder


def get_questions(folder: str) -> tuple[type[PromptedRequest], ...]:
    """Return the questions that the prompts of a folder ask.

    Raises:
        ConfigurationError: nobody has declared them.
    """
    if folder not in QUESTIONS:
        raise ConfigurationError(
            f"Nobody says which questions the prompts in configs/prompts/{folder} ask: define its "
            f'protocol with `prompts = declare_prompts("{folder}", QUESTION, …)`.'
        )
    return QUESTIONS[folder]


def list_questions() -> frozenset[type[PromptedRequest]]:
    """Return all declared questions."""
    return frozenset(question for questions in QUESTIONS.values() for question in questions)


def check_declared(request: PromptedRequest) -> None:
    """Check that a request's reply forms are part of the sha of the prompts that ask it.

    Raises:
        ConfigurationError: they are not.
    """
    folder = request.prompt.partition("/")[0]
    if type(request) not in get_questions(folder):
        raise ConfigurationError(
            f"{type(request).__name__} is not declared as a question of the prompts in "
            f"configs/prompts/{folder}: name it in `declare_prompts`."
        )


def list_forms(folder: str) -> tuple[type[ReplyModel], ...]:
    """Return the reply forms of a folder's questions, each once, in their order."""
    forms = (form for question in get_questions(folder) for form in question.forms)
    return tuple(dict.fromkeys(forms))


def forms_sha(folder: str) -> str:
    """Return the sha of the reply forms of a folder's questions.

    Raises:
        ConfigurationError: nobody has declared the questions.
    """
    return content_sha(*map(render_schema, list_forms(folder)))
