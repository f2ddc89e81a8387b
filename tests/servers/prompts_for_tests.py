"""A request as the LLM judge makes it, for the tests of the servers and of clients."""

from tasks.judges.llm.prompts import load_prompt
from tasks.judges.questions.verify_claims import ClaimVerdict
from tasks.judges.replies import ItemResults, render_schema
from tasks.models.exchange import Message, ModelRequest, Parameters, Purpose

MODEL = "some-model"
CLAIMS = (
    ("The tower opened in 1889.", ("In 1889 the tower opened to visitors.", "It is tall.")),
    ("The tower opened in 1890.", ("In 1889 the tower opened to visitors.",)),
    ("Nobody was ever paid for painting.", ("In 1889 the tower opened to visitors.",)),
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
    protocol, name = "wiki_fact", "verify_claims"
    prompt = load_prompt(protocol, name)
    return ModelRequest(
        provider="any",
        model=MODEL,
        parameters=Parameters(temperature=0.0, seed=7, max_output_tokens=limit),
        reply_name=name,
        reply_schema=render_schema(ItemResults[ClaimVerdict]),
        system=prompt.system,
        messages=(Message(role="user", text=prompt.render(items=items)),),
        purpose=Purpose(judge="j", protocol=protocol, step=name, prompt_sha=prompt.sha),
    )


def without_sampling(request: ModelRequest) -> ModelRequest:
    """The request without temperature and seed."""
    plain = request.parameters.model_copy(update={"temperature": None, "seed": None})
    return request.model_copy(update={"parameters": plain})
