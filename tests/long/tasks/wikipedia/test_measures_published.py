"""The wikitext of the 69 published articles, as selection looks at it."""

import json

from tasks.wikipedia.measures import measure_page
from tests.tasks.published import EDITION, MARKS
from tests.tasks.wikipedia.test_measures import RULES, page

pytestmark = MARKS


def test_no_published_article_is_tagged_as_machine_written_or_for_maintenance() -> None:
    found = {
        path.stem: measure_page(page(_wikitext(path.read_text("utf-8"))), RULES)
        for path in sorted((EDITION / "wiki_data/raw_wiki").glob("*.json"))
    }
    assert len(found) == 69
    assert {name: of.exclusion for name, of in found.items() if of.exclusion} == {}
    assert {name: of.maintenance_tags for name, of in found.items() if of.maintenance_tags} == {}


def _wikitext(answer: str) -> str:
    [listed] = json.loads(answer)["revisions"]["query"]["pages"]
    return str(listed["revisions"][0]["slots"]["main"]["content"])
