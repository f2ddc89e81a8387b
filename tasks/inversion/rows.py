"""Build a question's warehouse rows from its draft."""

import json
from dataclasses import asdict
from typing import Any

from tasks.base import Frozen
from tasks.configuration.inversion import InversionSettings
from tasks.inversion.context import InversionContext
from tasks.inversion.draft import QuestionDraft, count_distinct, find_sources_rule
from tasks.judges.decisions import StepAnswer, VersionedJudge
from tasks.warehouse.questions import Question
from tasks.warehouse.rows import OPEN_STATUSES, Status, content_sha
from tasks.warehouse.truths import TRUTHS, GroundTruth, TruthSettings, make_ground_truth

PROMPTS = "inversion"
"""The folder of `configs/prompts` with the prompts of inversion."""


class Inversion(Frozen):
    """The inversion of one article by one judge: the parts of its questions' key."""

    edition: str
    article: str
    text_sha: str
    judge: str
    model_version: str
    prompt_sha: str
    settings_sha: str
    seed: int

    @property
    def inversion_id(self) -> str:
        by = (self.judge, self.model_version, self.prompt_sha, self.settings_sha)
        return content_sha(self.article, self.text_sha, *by)

    def assignment(self, number: int) -> str:
        """Return the assignment's id: safe as a file name, and without the article's name."""
        return f"question-{content_sha(self.inversion_id, str(number))[:12]}"


def create_inversion(
    edition: str, article: str, text_sha: str, inverter: VersionedJudge, settings: InversionSettings
) -> Inversion:
    return Inversion(
        edition=edition,
        article=article,
        text_sha=text_sha,
        judge=inverter.name,
        model_version=inverter.model_version,
        prompt_sha=inverter.prompt_sha(PROMPTS),
        settings_sha=settings.sha,
        seed=settings.seed,
    )


def build_question_row(
    inversion: Inversion,
    number: int,
    n_targets: int,
    draft: QuestionDraft,
    context: InversionContext,
) -> Question:
    """Build the row of one target.

    Raises:
        ValueError: its draft is still under way.
    """
    if draft.state == "under_way":
        raise ValueError(f"target {number} of {inversion.article} is still under way")
    return Question(
        **_key_columns(inversion),
        number=number,
        n_targets=n_targets,
        state=draft.state,
        reason=draft.reason,
        detail=draft.detail,
        assignment=inversion.assignment(number) if draft.state == "accepted" else None,
        question=draft.question,
        kind=draft.target.kind,
        category=draft.target.category,
        target=draft.target.model_dump_json(),
        truths=TRUTHS.dump_json(draft.truths).decode() if draft.truths else None,
        sources_rule=find_sources_rule(draft.truths, context.surroundings)
        if draft.truths
        else None,
        dropped=_dump_json(draft.dropped),
        n_properties=draft.n_properties,
        n_properties_kept=len(draft.target.properties),
        pose_rounds=draft.pose_rounds,
        refinement_rounds=draft.refinement_rounds,
        others=_dump_json([other.model_dump() for other in draft.others]),
        n_added=len(draft.added),
        **(asdict(draft.figures) if draft.figures else {}),
        **_probe_columns(draft, context),
        **_effort_columns(draft),
        model_version=draft.model_version or inversion.model_version,
        call_ids=_dump_json(draft.call_ids),
    )


def build_row_without_target(inversion: Inversion, found: StepAnswer[Any]) -> Question:
    """Build the row of an article for which the judge named no target, or gave no answer yet."""
    still_open = found.status in OPEN_STATUSES or found.status is Status.SKIPPED
    named_none = found.status is Status.OK
    return Question(
        **_key_columns(inversion),
        number=0,
        n_targets=None if still_open else 0,
        state="open" if still_open else "rejected",
        reason="no_target" if named_none else found.status.value,
        detail="the judge named none" if named_none else f"find_targets: {found.reason}",
        model_version=found.model_version or inversion.model_version,
        call_ids=_dump_json([found.call_id] if found.call_id else []),
    )


def build_truth_row(
    inversion: Inversion, number: int, draft: QuestionDraft, context: InversionContext
) -> GroundTruth:
    """Build the ground truth of an accepted question."""
    own = (context.source.url,) if context.source.url else ()
    return make_ground_truth(
        inversion.edition,
        inversion.assignment(number),
        draft.target.category,
        "inverted",
        draft.truths,
        TruthSettings(
            question=draft.question or "",
            needed_queries=draft.effort.queries if draft.effort else (),
            banned=(*own, *context.settings.mirror_hosts),
        ),
    )


def render_answer_form(draft: QuestionDraft) -> str:
    """Render the JSON form that an answer to this question must have."""
    source = ["https://…"]
    claim = {
        "value": "an answer",
        "sub_claims": [
            {"name": name, "value": "…", "sources": source} for name in draft.asked_of_it
        ],
        "sources": source,
    }
    return json.dumps({"claims": [claim]}, ensure_ascii=False, indent=2)


def _key_columns(inversion: Inversion) -> dict[str, Any]:
    """Return the columns that all rows of an inversion share."""
    return inversion.model_dump(exclude={"model_version"}) | {
        "inversion_id": inversion.inversion_id
    }


def _probe_columns(draft: QuestionDraft, context: InversionContext) -> dict[str, Any]:
    found: dict[str, Any] = {"closed_book_f1": draft.closed_book_f1}
    if draft.closed_book is not None:
        found["closed_book"] = _dump_json([answer.model_dump() for answer in draft.closed_book])
    probes = draft.page_probes
    if probes is not None and draft.reason not in OPEN_STATUSES:
        n_pages = len(context.surroundings.pages)
        if draft.reason == "single_page":
            outcome = "answered"
        elif not n_pages or (probes and all(probe.f1 is None for probe in probes)):
            outcome = "not_assessed"
        else:
            outcome = "unanswered"
        dumped = _dump_json([asdict(probe) for probe in probes])
        found |= {"n_pages": n_pages, "single_page": outcome, "page_probes": dumped}
    return found


def _effort_columns(draft: QuestionDraft) -> dict[str, Any]:
    effort = draft.effort
    if effort is None:
        return {}
    return {
        "n_queries": count_distinct(effort.queries),
        "n_units": count_distinct(effort.units),
        "minutes": effort.minutes,
        "effort": effort.model_dump_json(exclude={"minutes"}),
    }


def _dump_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
