"""What people are shown beside a statement is what the judges were given."""

from pathlib import Path

from tasks.annotation.texts import EvidenceIndex
from tasks.warehouse.pages import Page
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.annotated import ARTICLE, OTHER, sample_warehouse


def test_a_claim_whose_page_redirects_to_the_target_article_is_no_evidence(tmp_path: Path) -> None:
    with open_warehouse(sample_warehouse(tmp_path)) as warehouse:
        cited = warehouse.frame(
            "SELECT c.text, z.url, t.url AS article FROM claims AS c "
            "JOIN citations AS z USING (edition, agent, assignment, number) "
            "JOIN assignments AS a USING (edition, assignment) "
            "JOIN articles AS t USING (edition, article) "
            "WHERE c.agent = $1 AND c.assignment = $2 ORDER BY c.number, z.url LIMIT 1",
            [OTHER, ARTICLE],
        )
        claim, url, article = cited.row(0)
        (page,) = warehouse.rows(Page, "url = $1", [url])
        assert (
            EvidenceIndex(warehouse, "sample").find("coverage", OTHER, ARTICLE, claim)[0] == claim
        )
        led_there = page.model_copy(update={"final_url": article})
        warehouse.write(Change(Page, [led_there]))
        assert claim not in EvidenceIndex(warehouse, "sample").find(
            "coverage", OTHER, ARTICLE, claim
        )
