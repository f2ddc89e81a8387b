"""Published answers as nested claims, and nested claims as published rows.

LiveDRBench's truths are items: a dict, or a list of dicts or strings. As claims, a row is a
claim whose value is what tells it from other rows and whose other keys are its sub-claims; a
dict without a main claim is one claim per key; a string is a claim of its own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tasks.extraction.answers import AgentAnswer, AnsweredClaim, Group, shown
from tasks.warehouse.truths import TruthClaim, TruthSettings

GroupForm = Literal["dict", "rows", "texts"]
OF_CATEGORY = {
    "scifacts-geo": "paper_title",
    "scifacts-materials": "material",
    "prior-art": "title",
}
"""What tells rows apart where the publisher does not say; else a row's first key."""
TEXT = ""
"""The key under which a text that is no row stands."""
_OTHER = re.compile(r"[^\w]+|_+")


@dataclass(frozen=True)
class Value:
    """One value of a true row."""

    text: str
    also: tuple[str, ...] = ()
    """Others that are as true."""


@dataclass(frozen=True)
class TruthItem:
    """One item of the truth, in its published form; keys as `key_name` writes them."""

    form: GroupForm
    rows: tuple[dict[str, Value], ...]


@dataclass(frozen=True)
class Form:
    """How the truth of one question is laid out; answers are read by it."""

    groups: tuple[GroupForm, ...]
    row_keys: tuple[str, ...]
    """What tells rows apart."""
    dict_keys: tuple[str, ...]
    """The main claim of a dict; empty where it has none."""
    ignored: frozenset[str]


def key_name(key: object) -> str:
    """A key as it is compared: `Paper Title`, `paper-title` and `paper_title` are the same."""
    return _OTHER.sub("_", shown(key).casefold()).strip("_")


def form_of(category: str, settings: TruthSettings, truths: Sequence[TruthClaim] = ()) -> Form:
    """The layout of a question's truth.

    truths: the claims themselves; they tell what rows are called where nothing was published.
    """
    info = settings.eval_info
    main = tuple(key_name(key) for key in info.main_claims)
    ignored = frozenset(key_name(key) for key in info.ignore_keys)
    primary = tuple(key_name(key) for key in info.primary_keys)
    if settings.published is None:
        named = any(truth.name or truth.sub_claims for truth in truths)
        name = key_name(truths[0].name) if truths else TEXT
        return Form(("rows" if named else "texts",), (name or "answer",), (), ignored)
    groups = tuple(_group_form(item) for item in settings.published)
    first = next((row for item in settings.published if isinstance(item, list)
                  for row in item if isinstance(row, dict) and row), {})  # fmt: skip
    known = {key_name(key) for key in first}
    usual = OF_CATEGORY.get(category, "")
    usual = usual if usual in known else next(map(key_name, first), "answer")
    return Form(groups, primary or main or (usual,), main, ignored)


def truth_items(
    category: str, settings: TruthSettings, truths: Sequence[TruthClaim]
) -> tuple[TruthItem, ...]:
    """The truth in its published form, or what it would be."""
    if settings.published is not None:
        return tuple(_truth_item(item, category) for item in settings.published)
    form = form_of(category, settings, truths)
    if form.groups == ("texts",):
        rows = tuple({TEXT: Value(t.value, t.also)} for t in truths)
        return (TruthItem("texts", rows),)
    rows = tuple(
        {
            key_name(truth.name) or form.row_keys[0]: Value(truth.value, truth.also),
            **{key_name(c.name): Value(c.value, c.also) for c in truth.sub_claims},
        }
        for truth in truths
    )
    return (TruthItem("rows", rows),)


def truth_claims(category: str, settings: TruthSettings) -> tuple[TruthClaim, ...]:
    """Published ground truths as nested claims."""
    form = form_of(category, settings)
    return tuple(
        claim for item in truth_items(category, settings, ()) for claim in _truths_of(item, form)
    )


def answered_claims(answer: AgentAnswer, form: Form) -> tuple[AnsweredClaim, ...]:
    """What an answer says as nested claims, laid out as the truth is; ignored keys left out."""
    if answer.claims is not None:
        return tuple(_without(claim, form.ignored) for claim in answer.claims)
    return tuple(
        claim
        for kind, rows in zip(form.groups, answered_rows(answer, form), strict=True)
        for row in rows
        for claim in _claims_of(kind, row, form)
    )


def answered_rows(answer: AgentAnswer, form: Form) -> tuple[tuple[dict[str, str], ...], ...]:
    """What an answer says as rows, a tuple of rows per item of the truth.

    Items are paired in order, as published; where there are more than the truth has, the rest
    goes with the last. An answer that leaves out the brackets around its one item is understood.
    """
    n = len(form.groups)
    groups = list(answer.groups)
    if answer.claims is not None:
        groups = [_as_rows(answer.claims, form)]
    all_dicts = n > 1 and all(kind == "dict" for kind in form.groups)
    if all_dicts and len(groups) == 1 and isinstance(groups[0], list):
        groups = [row for row in groups[0] if isinstance(row, dict)]
    rows: list[list[dict[str, str]]] = [[] for _ in range(n)]
    for index, group in enumerate(groups):
        if n:
            rows[min(index, n - 1)] += [_row(r) for r in _listed(group)]
    return tuple(tuple(group) for group in rows)


def row_value(row: Mapping[str, str], key: str) -> str:
    """The row's value of a key; a text that is no row counts as any."""
    return row.get(key, row.get(TEXT, ""))


def _group_form(item: object) -> GroupForm:
    if isinstance(item, dict):
        return "dict"
    is_rows = isinstance(item, list) and any(isinstance(row, dict) for row in item)
    return "rows" if is_rows else "texts"


def _truth_item(item: Any, category: str) -> TruthItem:
    form = _group_form(item)
    rows = _listed(item if isinstance(item, dict | list) else [item])
    return TruthItem(form, tuple(_truth_row(row, category) for row in rows))


def _truth_row(row: object, category: str) -> dict[str, Value]:
    if not isinstance(row, dict):
        return {TEXT: Value(shown(row))}
    equivalents = category.startswith("scifacts-")
    return {key_name(key): _value(value, equivalents) for key, value in row.items()}


def _value(value: object, equivalents: bool) -> Value:
    """In scifacts a list holds equivalent values; elsewhere it is one value, a list."""
    if equivalents and isinstance(value, list) and value:
        first, *others = (shown(item) for item in value)
        return Value(first, tuple(others))
    return Value(shown(value))


def _truths_of(item: TruthItem, form: Form) -> list[TruthClaim]:
    found = []
    for row in item.rows:
        head = _head(item.form, row, form)
        rest = [
            TruthClaim(value=value.text, name=key, also=value.also)
            for key, value in row.items()
            if key not in head and key not in form.ignored
        ]
        if head:
            also = row[head[0]].also if len(head) == 1 else ()
            text = _joined([row[key].text for key in head])
            name = "" if head == (TEXT,) else ", ".join(head)
            found.append(TruthClaim(value=text, name=name, also=also, sub_claims=tuple(rest)))
        else:
            found += rest
    return found


def _claims_of(kind: GroupForm, row: Mapping[str, str], form: Form) -> list[AnsweredClaim]:
    head = _head(kind, row, form)
    rest = tuple(
        AnsweredClaim(value=value, name=key)
        for key, value in row.items()
        if key not in head and key not in form.ignored
    )
    if head:
        name = "" if head == (TEXT,) else ", ".join(head)
        value = _joined([row[key] for key in head])
        return [AnsweredClaim(value=value, name=name, sub_claims=rest)]
    # A row that does not say which one it is can state none; its claims go with it.
    return list(rest) if kind == "dict" else [AnsweredClaim(value="", sub_claims=rest)]


def _head(kind: GroupForm, row: Mapping[str, object], form: Form) -> tuple[str, ...]:
    if TEXT in row:
        return (TEXT,)
    keys = form.dict_keys if kind == "dict" else form.row_keys
    return tuple(key for key in keys if key in row)


def _as_rows(claims: Sequence[AnsweredClaim], form: Form) -> list[Any]:
    """Nested claims as the rows of one item; named claims of a dict are its keys."""
    flat = form.groups and form.groups[0] == "dict" and not form.dict_keys
    if flat and all(claim.name and not claim.sub_claims for claim in claims):
        return [{claim.name: claim.value for claim in claims}] if claims else []
    keys = form.dict_keys if form.groups and form.groups[0] == "dict" else form.row_keys
    texts = form.groups == ("texts",)
    return [
        claim.value
        if texts
        else {
            (claim.name or (keys[0] if keys else "answer")): claim.value,
            **{sub.name: sub.value for sub in claim.sub_claims},
        }
        for claim in claims
    ]


def _row(row: object) -> dict[str, str]:
    if isinstance(row, dict):
        return {key_name(key): shown(value) for key, value in row.items()}
    return {TEXT: shown(row)}


def _listed(group: Group) -> list[Any]:
    return group if isinstance(group, list) else [group]


def _without(claim: AnsweredClaim, ignored: frozenset[str]) -> AnsweredClaim:
    kept = tuple(
        _without(below, ignored)
        for below in claim.sub_claims
        if not below.name or key_name(below.name) not in ignored
    )
    return claim.model_copy(update={"sub_claims": kept})


def _joined(values: Sequence[str]) -> str:
    return ", ".join(value for value in values if value)
