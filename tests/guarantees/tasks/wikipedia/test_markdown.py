"""A page of ten million characters is converted."""

from tasks.wikipedia.markdown import to_markdown
from tests.tasks.wikipedia.rendered_pages import LEGACY


def test_a_page_of_ten_million_characters_is_converted() -> None:
    html = LEGACY * (10_000_000 // len(LEGACY))
    assert to_markdown(html, "T").count("**Runs of the ship**") > 1_000
