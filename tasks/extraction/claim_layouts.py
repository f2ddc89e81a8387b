"""Conversion between LiveDRBench's published rows and nested claims.

A published truth is a list of items, each a dict or a list of dicts or strings. A row becomes a
claim: its identifying keys give the value, its other keys the sub-claims. A dict without a main
claim becomes one claim per key, a string a claim of its own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tasks.extraction.answers import AgentAnswer, AnsweredClaim, AnswerGroup, format_value
from tasks.warehouse.truths import TruthClaim, TruthSettings

ItemForm = Literal["dict", "rows", "texts"]
ROW_KEY_BY_CATEGORY = {
    "scifacts-geo": "paper_title",
    "scifacts-materials": "material",
    "prior-art": "title",
}
"""The key that identifies a row where the publisher names none; by default a row's first key."""
TEXT_KEY = ""
"""The key of a plain text, which is no row."""
_SEPARATORS = re.compile(r"[^\w]+|_+")


@dataclass(frozen=True)
class TruthValue:
    """One value of a true row."""

    text: str
    also: tuple[str, ...] = ()
    """Other accepted values."""


@dataclass(frozen=True)
class TruthItem:
    """One item of the truth, in its published form; keys are normalised."""

    form: ItemForm
    rows: tuple[dict[str, TruthValue], ...]


@dataclass(frozen=True)
class TruthLayout:
    """The layout of one question's truth, by which its answers are read."""

    groups: tuple[ItemForm, ...]
    row_keys: tuple[str, ...]
    """The keys that identify a row."""
    dict_keys: tuple[str, ...]
    """The main claim of a dict; empty if it has none."""
    ignored: frozenset[str]


def normalise_key(key: object) -> str:
    """Normalise a key: `Paper Title`, `paper-title` and `paper_title` are the same."""
    return _SEPARATORS.sub("_", format_value(key).casefold()).strip("_")


def derive_layout(
    category: str, settings: TruthSettings, truths: Sequence[TruthClaim] = ()
) -> TruthLayout:
    """Derive the layout of a question's truth.

    Args:
        truths: The claims themselves, from which to name rows if nothing was published.
    """
    info = settings.eval_info
    main = tuple(normalise_key(key) for key in info.main_claims)
    ignored = frozenset(normalise_key(key) for key in info.ignore_keys)
    primary = tuple(normalise_key(key) for key in info.primary_keys)
    if settings.published is None:
        named = any(truth.name or truth.sub_claims for truth in truths)
        name = normalise_key(truths[0].name) if truths else TEXT_KEY
        return TruthLayout(("rows" if named else "texts",), (name or "answer",), (), ignored)
    groups = tuple(_item_form(item) for item in settings.published)
    rows = (row for item in settings.published if isinstance(item, list) for row in item)
    first = next((row for row in rows if isinstance(row, dict) and row), {})
    known = {normalise_key(key) for key in first}
    usual = ROW_KEY_BY_CATEGORY.get(category, "")
    usual = usual if usual in known else next(map(normalise_key, first), "answer")
    return TruthLayout(groups, primary or main or (usual,), main, ignored)


def build_truth_items(
    category: str, settings: TruthSettings, truths: Sequence[TruthClaim]
) -> tuple[TruthItem, ...]:
    """Return the truth in its published form, or in the form it would have."""
    if settings.published is not None:
        return tuple(_build_truth_item(item, category) for item in settings.published)
    form = derive_layout(category, settings, truths)
    if form.groups == ("texts",):
        rows = tuple({TEXT_KEY: TruthValue(t.value, t.also)} for t in truths)
        return (TruthItem("texts", rows),)
    rows = tuple(
        {
            normalise_key(truth.name) or form.row_keys[0]: TruthValue(truth.value, truth.also),
            **{normalise_key(c.name): TruthValue(c.value, c.also) for c in truth.sub_claims},
        }
        for truth in truths
    )
    return (TruthItem("rows", rows),)


def build_truth_claims(category: str, settings: TruthSettings) -> tuple[TruthClaim, ...]:
    """Convert published ground truths to nested claims."""
    form = derive_layout(category, settings)
    return tuple(
        claim
        for item in build_truth_items(category, settings, ())
        for claim in _build_truths(item, form)
    )


def build_answered_claims(answer: AgentAnswer, form: TruthLayout) -> tuple[AnsweredClaim, ...]:
    """Convert an answer to nested claims in the layout of the truth, without ignored keys."""
    if answer.claims is not None:
        return tuple(_remove_ignored(claim, form.ignored) for claim in answer.claims)
    return tuple(
        claim
        for kind, rows in zip(form.groups, build_answered_rows(answer, form), strict=True)
        for row in rows
        for claim in _build_claims(kind, row, form)
    )


def build_answered_rows(
    answer: AgentAnswer, form: TruthLayout
) -> tuple[tuple[dict[str, str], ...], ...]:
    """Convert an answer to rows, one tuple of rows per item of the truth.

    As published, items are paired in order; surplus ones join the last. The brackets around a
    single item may be missing.
    """
    n = len(form.groups)
    groups = list(answer.groups)
    if answer.claims is not None:
        groups = [_convert_to_rows(answer.claims, form)]
    all_dicts = n > 1 and all(kind == "dict" for kind in form.groups)
    if all_dicts and len(groups) == 1 and isinstance(groups[0], list):
        groups = [row for row in groups[0] if isinstance(row, dict)]
    rows: list[list[dict[str, str]]] = [[] for _ in range(n)]
    for index, group in enumerate(groups):
        if n:
            rows[min(index, n - 1)] += [_build_row(r) for r in _as_list(group)]
    return tuple(tuple(group) for group in rows)


def get_row_value(row: Mapping[str, str], key: str) -> str:
    """Return the row's value of a key; a plain text counts as the value of any key."""
    return row.get(key, row.get(TEXT_KEY, ""))


def _item_form(item: object) -> ItemForm:
    if isinstance(item, dict):
        return "dict"
    is_rows = isinstance(item, list) and any(isinstance(row, dict) for row in item)
    return "rows" if is_rows else "texts"


def _build_truth_item(item: Any, category: str) -> TruthItem:
    form = _item_form(item)
    rows = _as_list(item if isinstance(item, dict | list) else [item])
    return TruthItem(form, tuple(_build_truth_row(row, category) for row in rows))


def _build_truth_row(row: object, category: str) -> dict[str, TruthValue]:
    if not isinstance(row, dict):
        return {TEXT_KEY: TruthValue(format_value(row))}
    equivalents = category.startswith("scifacts-")
    return {normalise_key(key): _build_value(value, equivalents) for key, value in row.items()}


def _build_value(value: object, equivalents: bool) -> TruthValue:
    """Build a value: in scifacts a list holds equivalent values, elsewhere it is one value."""
    if equivalents and isinstance(value, list) and value:
        first, *others = (format_value(item) for item in value)
        return TruthValue(first, tuple(others))
    return TruthValue(format_value(value))


def _build_truths(item: TruthItem, form: TruthLayout) -> list[TruthClaim]:
    found = []
    for row in item.rows:
        head = _head_keys(item.form, row, form)
        rest = [
            TruthClaim(value=value.text, name=key, also=value.also)
            for key, value in row.items()
            if key not in head and key not in form.ignored
        ]
        if head:
            also = row[head[0]].also if len(head) == 1 else ()
            text = _join_values([row[key].text for key in head])
            name = "" if head == (TEXT_KEY,) else ", ".join(head)
            found.append(TruthClaim(value=text, name=name, also=also, sub_claims=tuple(rest)))
        else:
            found += rest
    return found


def _build_claims(kind: ItemForm, row: Mapping[str, str], form: TruthLayout) -> list[AnsweredClaim]:
    head = _head_keys(kind, row, form)
    rest = tuple(
        AnsweredClaim(value=value, name=key)
        for key, value in row.items()
        if key not in head and key not in form.ignored
    )
    if head:
        name = "" if head == (TEXT_KEY,) else ", ".join(head)
        value = _join_values([row[key] for key in head])
        return [AnsweredClaim(value=value, name=name, sub_claims=rest)]
    # A row that does not say which one it is can state none; its claims go with it.
    return list(rest) if kind == "dict" else [AnsweredClaim(value="", sub_claims=rest)]


def _head_keys(kind: ItemForm, row: Mapping[str, object], form: TruthLayout) -> tuple[str, ...]:
    if TEXT_KEY in row:
        return (TEXT_KEY,)
    keys = form.dict_keys if kind == "dict" else form.row_keys
    return tuple(key for key in keys if key in row)


def _convert_to_rows(claims: Sequence[AnsweredClaim], form: TruthLayout) -> list[Any]:
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


def _build_row(row: object) -> dict[str, str]:
    if isinstance(row, dict):
        return {normalise_key(key): format_value(value) for key, value in row.items()}
    return {TEXT_KEY: format_value(row)}


def _as_list(group: AnswerGroup) -> list[Any]:
    return group if isinstance(group, list) else [group]


def _remove_ignored(claim: AnsweredClaim, ignored: frozenset[str]) -> AnsweredClaim:
    kept = tuple(
        _remove_ignored(below, ignored)
        for below in claim.sub_claims
        if not below.name or normalise_key(below.name) not in ignored
    )
    return claim.model_copy(update={"sub_claims": kept})


def _join_values(values: Sequence[str]) -> str:
    return ", ".join(value for value in values if value)
