"""The forms in which models answer: one pydantic model per decision, parsed once, strictly.

The same models give the JSON Schema that is sent. Whatever the endpoint promises, the answer is
validated here: a wrong word, a missing item or one too many makes it unusable as a whole.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from tasks.judges.forms.claims import CLAIM_FORMS
from tasks.judges.forms.deepresearch import CitationVerdicts, PairScores
from tasks.judges.forms.drafting import DRAFTING_FORMS
from tasks.judges.forms.form import ReplyModel as ReplyModel
from tasks.judges.forms.inversion import INVERSION_FORMS
from tasks.judges.forms.keywords import KEYWORD_FORMS
from tasks.judges.forms.points import KEY_POINT_FORMS, PointVerdicts
from tasks.judges.forms.rubrics import RUBRIC_FORMS
from tasks.judges.forms.support import Ratings, SupportVerdicts
from tasks.models.gateway import InvalidReply
from tasks.warehouse.rows import canonical_json, content_sha

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.S)
_CODE_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(?P<inside>.*)\n\s*```\s*\Z", re.S)
SHOWN = 200


ReplyT = TypeVar("ReplyT", bound=ReplyModel)


class ClaimVerdict(ReplyModel):
    item: int
    reason: str
    evidence: list[int]
    """Numbers of the pieces of evidence it rests on, 1-based."""
    verdict: Literal["consistent", "inconsistent", "not_support"]


class ClaimVerdicts(ReplyModel):
    results: list[ClaimVerdict]


class PageVerdict(ReplyModel):
    statement: int
    reason: str
    passage: str
    """Word for word from the page; empty where nothing supports or contradicts."""
    verdict: Literal["support", "not_support", "conflict"]


class PageVerdicts(ReplyModel):
    results: list[PageVerdict]


class CriterionVerdict(ReplyModel):
    criterion: str
    reason: str
    winner: Literal["article_1", "article_2"]


class CriterionVerdicts(ReplyModel):
    results: list[CriterionVerdict]


class CriterionVerdictOrTie(ReplyModel):
    criterion: str
    reason: str
    winner: Literal["article_1", "article_2", "tie"]


class CriterionVerdictsOrTies(ReplyModel):
    results: list[CriterionVerdictOrTie]


class StatedFact(ReplyModel):
    statement: str


class StatedFacts(ReplyModel):
    facts: list[StatedFact]


class StatedClaim(ReplyModel):
    statement: str
    markers: list[str]
    """As they stand in the text."""


class StatedClaims(ReplyModel):
    claims: list[StatedClaim]


FORMS: dict[str, tuple[type[ReplyModel], ...]] = {
    "wiki_fact": (ClaimVerdicts, PageVerdicts),
    "wiki_writing": (CriterionVerdicts, CriterionVerdictsOrTies),
    "extraction": (StatedFacts, StatedClaims),
    "claim_discovery": CLAIM_FORMS,
    "rubric_bench": RUBRIC_FORMS,
    "rigorous": (*RUBRIC_FORMS, *KEYWORD_FORMS),
    "own_rubric": (*RUBRIC_FORMS, PointVerdicts),
    "race": (PairScores,),
    "fact": (CitationVerdicts,),
    "inversion": INVERSION_FORMS,
    "drafting": DRAFTING_FORMS,
    "research_gym": (PointVerdicts, SupportVerdicts, Ratings),
    "key_points": KEY_POINT_FORMS,
}
"""The forms in which the steps of a protocol are answered."""


def forms_sha(protocol: str) -> str:
    """Part of every prompt sha: another form of the answer is another question."""
    return content_sha(*(schema_of(form) for form in FORMS.get(protocol, ())))


@lru_cache
def schema_of(model: type[ReplyModel]) -> str:
    """The JSON Schema to send, as canonical JSON, with nothing of Python's names in it.

    Without the titles that pydantic adds, and with each part written out where it is used: under
    `$defs` it would be named after its class, and renaming that would change every request's id.
    """
    schema = model.model_json_schema()
    return canonical_json(_written_out(schema, schema.get("$defs", {})))


@lru_cache(maxsize=512)
def schema_for_items(model: type[ReplyModel], key: str, expected: tuple[Any, ...]) -> str:
    """The same, allowing one result for each expected item and no other.

    For endpoints that hold a model to the schema by a grammar: a weak model then cannot answer
    for items that nobody asked for.
    """
    schema = json.loads(schema_of(model))
    results = schema["properties"]["results"]
    results |= {"minItems": len(expected), "maxItems": len(expected)}
    results["items"]["properties"][key]["enum"] = list(expected)
    return canonical_json(schema)


def schema_with_values(schema: str, one_of: Mapping[str, tuple[str, ...]]) -> str:
    """The same, allowing only these values in the named fields of a result."""
    changed = json.loads(schema)
    fields = changed["properties"]["results"]["items"]["properties"]
    for field, values in one_of.items():
        fields[field]["enum"] = list(values)
    return canonical_json(changed)


def read(model: type[ReplyT], answer: str) -> ReplyT:
    """An answer as its model; a block of thoughts before it and a code fence around it are cut.

    Raises:
        InvalidReply: not JSON, or JSON of another form; the message says where.
    """
    text = _THOUGHTS.sub("", answer)
    fenced = _CODE_FENCE.match(text)
    try:
        return model.model_validate_json(fenced["inside"] if fenced else text)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"]) or "the answer"
        raise InvalidReply(f"{where}: {problem['msg']}"[:SHOWN]) from None


def in_order(results: Sequence[ReplyT], key: str, expected: Sequence[Any]) -> list[ReplyT]:
    """The results in the order in which their items were asked for.

    Raises:
        InvalidReply: an item is missing, there twice, or was never asked for.
    """
    keys = [getattr(result, key) for result in results]
    missing = [item for item in expected if item not in keys]
    twice = sorted({str(item) for item in keys if keys.count(item) > 1})
    unknown = [item for item in keys if item not in expected]
    problems = [
        f"{what}: {_listed(items)}"
        for what, items in (("missing", missing), ("twice", twice), ("never asked for", unknown))
        if items
    ]
    if problems:
        raise InvalidReply(f"{key} {'; '.join(problems)} (asked for {len(expected)})")
    found = dict(zip(keys, results, strict=True))
    return [found[item] for item in expected]


def _listed(items: Collection[object]) -> str:
    shown = [str(item)[:40] for item in items][:5]
    return ", ".join(shown) + (" …" if len(items) > len(shown) else "")


def _written_out(schema: Any, parts: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_written_out(value, parts) for value in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _written_out(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {
        name: _written_out(value, parts)
        for name, value in schema.items()
        if not (name in ("title", "description") and isinstance(value, str)) and name != "$defs"
    }
