"""Parsing model answers: each is validated strictly against its form.

Whatever the endpoint promises, a wrong word, a missing item or one too many makes the whole answer
unusable.
"""

from collections.abc import Collection, Sequence
from typing import TypeVar

from pydantic import ValidationError

from tasks.judges.forms.form import ReplyModel
from tasks.models.embedded_json import find_only_object
from tasks.models.gateway import InvalidReply

MAX_PROBLEM_CHARS = 200

ReplyT = TypeVar("ReplyT", bound=ReplyModel)


def parse_reply(model: type[ReplyT], answer: str) -> ReplyT:
    """Parse the only JSON object of an answer, whatever stands around it.

    Raises:
        InvalidReply: no JSON object, more than one, or one of another form; the message says where.
    """
    try:
        return model.model_validate_json(find_only_object(answer))
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"]) or "the answer"
        raise InvalidReply(f"{where}: {problem['msg']}"[:MAX_PROBLEM_CHARS]) from None
    except ValueError as error:
        raise InvalidReply(f"the answer: {error}") from None


def order_results(
    results: Sequence[ReplyT], key: str, expected: Sequence[int] | Sequence[str]
) -> list[ReplyT]:
    """Return the results in the order of the expected items.

    Raises:
        InvalidReply: an item is missing, duplicate or unknown.
    """
    keys = [getattr(result, key) for result in results]
    missing = [item for item in expected if item not in keys]
    twice = sorted({str(item) for item in keys if keys.count(item) > 1})
    unknown = [item for item in keys if item not in expected]
    problems = [
        f"{what}: {_join_items(items)}"
        for what, items in (("missing", missing), ("twice", twice), ("never asked for", unknown))
        if items
    ]
    if problems:
        raise InvalidReply(f"{key} {'; '.join(problems)} (asked for {len(expected)})")
    found = dict(zip(keys, results, strict=True))
    return [found[item] for item in expected]


def _join_items(items: Collection[object]) -> str:
    shown = [str(item)[:40] for item in items][:5]
    return ", ".join(shown) + (" …" if len(items) > len(shown) else "")
