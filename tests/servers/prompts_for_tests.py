"""Requests as the LLM judge makes them, for the tests of the servers."""

from typing import Any

from tasks.judges.forms.form import ReplyModel
from tasks.judges.forms.schemas import render_schema
from tasks.judges.forms.steps import ReplyClaims, ReplyFacts
from tasks.judges.forms.verdicts import (
    ClaimVerdicts,
    CriterionVerdicts,
    CriterionVerdictsOrTies,
    PageVerdicts,
)
from tasks.judges.llm.prompts import load_prompt
from tasks.models.exchange import Message, ModelRequest, Parameters, Purpose

MODEL = "some-model"
CLAIMS = (
    ("The tower opened in 1889.", ("In 1889 the tower opened to visitors.", "It is tall.")),
    ("The tower opened in 1890.", ("In 1889 the tower opened to visitors.",)),
    ("Nobody was ever paid for painting.", ("In 1889 the tower opened to visitors.",)),
)


def asked(step: str, form: type[ReplyModel], limit: int = 4096, **values: Any) -> ModelRequest:
    """`step` is `protocol/step`."""
    protocol, _, name = step.partition("/")
    prompt = load_prompt(protocol, name)
    return ModelRequest(
        provider="any",
        model=MODEL,
        parameters=Parameters(temperature=0.0, seed=7, max_output_tokens=limit),
        reply_name=name,
        reply_schema=render_schema(form),
        system=prompt.system,
        messages=(Message(role="user", text=prompt.render(**values)),),
        purpose=Purpose(judge="j", protocol=protocol, step=name, prompt_sha=prompt.sha),
    )


def verify_claims(limit: int = 4096, note: str = "") -> ModelRequest:
    """Three claims: one borne out, one contradicted, one not settled; `note` makes it another."""
    items = [
        {
            "number": number,
            "claim": claim + note,
            "evidence": "\n".join(f"[{i}] {text}" for i, text in enumerate(evidence, 1)),
        }
        for number, (claim, evidence) in enumerate(CLAIMS, 1)
    ]
    return asked("wiki_fact/verify_claims", ClaimVerdicts, limit, items=items)


def verify_against_page(page: str, *claims: str) -> ModelRequest:
    return asked("wiki_fact/verify_against_page", PageVerdicts, page=page, claims=list(claims))


def compare(first: str, second: str, *, allow_tie: bool = False, n: int = 6) -> ModelRequest:
    criteria = [{"id": f"ww_cc_{i}", "text": f"Criterion {i} is met."} for i in range(1, n + 1)]
    form = CriterionVerdictsOrTies if allow_tie else CriterionVerdicts
    return asked(
        "wiki_writing/compare_articles", form,
        first=first, second=second, criteria=criteria, allow_tie=allow_tie,
        category="Well written", description="", topic="A tower",
        subject_area="Art and architecture", area_description="buildings",
    )  # fmt: skip


def facts(text: str) -> ModelRequest:
    return asked("extraction/facts", ReplyFacts, title="A tower", text=text)


def claims(text: str) -> ModelRequest:
    return asked("extraction/claims", ReplyClaims, title="A tower", text=text)
