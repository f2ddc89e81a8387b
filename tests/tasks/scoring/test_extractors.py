"""Who extracted facts and claims is said, and that they are several."""

from tasks.extraction.claims import EXTRACTOR_VERSION
from tasks.scoring.extractors import describe_extractors
from tasks.warehouse.rows import Extraction
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row


def extracted(warehouse: Warehouse, agent: str, assignment: str, source: str, by: str) -> None:
    of = {"agent": agent, "assignment": assignment, "source": source, "extractor_version": by}
    warehouse.write(Change(Extraction, [a_row(Extraction, **of)]))


def test_the_extractors_of_facts_and_of_claims_are_named(warehouse: Warehouse) -> None:
    assert describe_extractors(warehouse, "e") == ""
    extracted(warehouse, "", "q", "published", "published")
    extracted(warehouse, "a", "q", "judge", "gemini a-model 12345678")
    assert describe_extractors(warehouse, "e") == (
        "Facts: published with the edition. Claims: extracted by the judge gemini a-model 12345678."
    )


def test_several_extractors_of_one_edition_are_said_with_their_agents(
    warehouse: Warehouse,
) -> None:
    for agent in ("", "a", "b", "c", "d"):
        extracted(warehouse, agent, "q", "offline", EXTRACTOR_VERSION)
    extracted(warehouse, "b", "r", "judge", "gemini m 1")
    assert describe_extractors(warehouse, "e") == (
        f"Facts: extracted offline ({EXTRACTOR_VERSION}). Claims: extracted offline "
        f"({EXTRACTOR_VERSION}): reports of a, b, c and 1 more (4); extracted by the judge "
        "gemini m 1: reports of b (1). Several extractors made the claims, so figures that rest "
        "on them do not compare like with like."
    )
    assert "reports of Ann, b, c and" in describe_extractors(warehouse, "e", {"a": "Ann"})


def test_what_an_earlier_offline_extractor_read_is_said_with_the_command_that_reads_it_anew(
    warehouse: Warehouse,
) -> None:
    extracted(warehouse, "", "q", "offline", "offline-0")
    command = "evergreen evaluate --edition e --extractor offline --extract-again"
    said = describe_extractors(warehouse, "e")
    assert said.endswith(f"({EXTRACTOR_VERSION}) read 1 text. To read them anew: {command}")
    for agent in ("a b", "c"):
        extracted(warehouse, agent, "q", "offline", "offline-0")
    said = describe_extractors(warehouse, "e")
    assert said.endswith(f"read 3 texts. To read them anew: {command} '--agent=a b' --agent=c")
