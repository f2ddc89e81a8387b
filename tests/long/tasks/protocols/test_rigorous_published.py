"""Both published entries, graded by a model over a real socket; the scores are known by hand."""

from typing import Any

import pytest

from tasks.benchmarks.rigorous import read_rigorous
from tasks.configuration.models import load_protocol
from tasks.judges.llm.judge import LlmJudge
from tasks.metrics.ratios import mean
from tasks.protocols.rigorous import Rigorous
from tests.servers.fences import Parsed
from tests.servers.gemini import GeminiServer
from tests.servers.oracle import Answer, Oracle
from tests.tasks.judges.recording import at_server
from tests.tasks.protocols.framed import framed, values
from tests.tasks.rigorous_cases import PUBLISHED, case

pytestmark = pytest.mark.skipif(not PUBLISHED.is_file(), reason="the data is not at hand")
PROTOCOL = Rigorous(load_protocol("rigorous"))


class Examiner(Oracle):
    """Gives an item its points where its text stands in the report word for word; rates keywords
    1 and one more each time they stand there, up to 5."""

    def decide(self, prompt: Parsed, schema: dict[str, Any] | None) -> Answer:
        answer = super().decide(prompt, schema)
        items = [block.text for block in prompt.blocks if block.name == "item"]
        for text, result in zip(items, answer["results"], strict=False):
            if text not in prompt.texts("report")[0]:
                result["score"] = "0"
        return answer


def written(entry: Any, *items: str) -> str:
    """A report that holds these items' texts."""
    texts = {item.item: item.text for item in entry.items}
    return "# A report\n\n" + "\n\n".join(texts[item] for item in items)


def test_both_entries_score_what_their_reports_were_written_for() -> None:
    cat, quic = read_rigorous(PUBLISHED, {})
    # 3 rubrics of 2 points each of 30; 2 + 2 of 73; NewReno thrice, Probe Timeout once, SPDY twice.
    of_quic = written(quic, "query-4", "query-5", "query-6", "general-1", "general-2") + (
        "\n\nNewReno, newreno, NewReno. Probe Timeout. SPDY or SPDY [1]. QUICK.\n\n"
        "## References\n\n"
        "[1] NewReno. https://www.rfc-editor.org/rfc/rfc9000\n"
        "[2] https://www.rfc-editor.org/other\n[3] https://example.org\n"
    )
    # 2 rubrics of 1 point; nothing else, no keyword, no address but what its claims cite.
    of_cat = written(cat, "query-4", "query-5")
    cases = [case(cat, of_cat, cited=["https://cdc.gov/a", "https://example.org"]),
             case(quic, of_quic)]  # fmt: skip
    server = GeminiServer(model=Examiner())

    async def judged(judge: LlmJudge) -> Any:
        found = {c.report.assignment: await PROTOCOL.judge(c, judge) for c in cases}
        frames = framed(found, cases)
        return values(PROTOCOL, frames, judge)

    found = at_server(server, judged)
    assert len(server.log.entries) == (30 + 48 + 10) + (17 + 48 + 10)

    quality = 0.5 * 6 / 30 + 0.5 * 4 / 73
    focus = 1 - (1 * 4 / 5 + 1 / 3 * 2 / 5) / 5
    deviation = 2 / 3 * 3 / 5 / 5
    drift = 0.7 * focus + 0.3 * deviation
    boost = 1 + 0.2 * (0.7 * 1 / 5 + 0.3 * (2 - 1) / (3 + 1))
    assert found["07001", "rigorous_quality"] == pytest.approx(quality)
    assert found["07001", "rigorous_focus_drift"] == pytest.approx(focus)
    assert found["07001", "rigorous_deviation_drift"] == pytest.approx(deviation)
    assert found["07001", "rigorous_trust_boost"] == pytest.approx(boost)
    product = quality * (1 - drift) * boost
    assert found["07001", "rigorous_integrated"] == pytest.approx(product)
    # Of 8 trusted pages none is cited, one of 2 cited pages is on the host of one: cdc.gov.
    other = (0.5 * 2 / 30) * (1 - 0.7) * (1 + 0.2 * 0.3 * 1 / (2 + 1))
    assert found["040216", "rigorous_integrated"] == pytest.approx(other)
    of_both = mean(found[key, "rigorous_integrated"] for key in ("040216", "07001"))
    assert of_both == pytest.approx((product + other) / 2)
