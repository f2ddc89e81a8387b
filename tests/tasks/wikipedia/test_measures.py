"""What selection looks at, from wikitext as editors write it."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.configuration.wikipedia import UNKNOWN, CollectionRules, find_category, load_wikipedia
from tasks.wikipedia.measures import Assessment, Measures, measure_page, parse_assessment

RULES: CollectionRules = load_wikipedia().rules
LONG = "word " * 400


def page(text: str, title: str = "Owl", **more: Any) -> dict[str, Any]:
    return {
        "pageid": 7, "title": title, "canonicalurl": "https://wiki.example/wiki/Owl",
        "categories": [{"title": "Category:Good articles"}],
        "revisions": [
            {"revid": 9, "timestamp": "2025-06-01T00:00:00Z", "size": len(text),
             "slots": {"main": {"content": text}}}
        ],
    } | more  # fmt: skip


def of(text: str, **more: Any) -> Measures:
    return measure_page(page(text, **more), RULES)


def test_pages_outside_are_counted_once_whatever_form_their_address_has() -> None:
    text = (
        "A<ref>{{cite web|url=https://a.example/1|title=A}}</ref> "
        "[http://www.a.example/1?utm_source=x A again] https://b.example/ "
        "<ref name=b>[https://c.example/x C]</ref> [//d.example/ D]"
    )
    assert of(text).reference_urls == 3


def test_headings_links_and_words_are_counted_in_the_wikitext() -> None:
    text = "Lead [[Owl]] and [[owl#Food|its food]].\n== A ==\n=== B ===\n{{Box|x=y}}\nMore words"
    found = of(text)
    assert (found.headings, found.links, found.words) == (2, 1, 9)


@pytest.mark.parametrize(
    ("given", "unfit"),
    [
        (page(LONG), None),
        (page(LONG, title="List of owls"), "list"),
        (page(LONG, title="Listening"), None),
        (page("{{Short description|Wikimedia list article}}" + LONG), "list"),
        (page(LONG, pageprops={"wikibase-shortdesc": "List of birds"}), "list"),
        (page(LONG, title="Owl (disambiguation)"), "disambiguation"),
        (page(LONG, pageprops={"disambiguation": ""}), "disambiguation"),
        (page("#REDIRECT [[Bird]]", redirect=True), "redirect"),
        (page(LONG, categories=[]), "delisted"),
        (page("word " * (RULES.fewest_words - 1)), "too_short"),
        (page("word " * RULES.fewest_words), None),
        (
            page("{{Multiple issues|{{AI-Generated|date=June 2026}}\n{{Tone}}}}" + LONG),
            "machine_written",
        ),
        (page(f"Lead.\n== Use ==\n{{{{ llm |section}}}}\n{LONG}"), "machine_written"),
        (
            page("{{Slop}}" + LONG, templates=[{"title": "Template:AI-generated"}]),
            "machine_written",
        ),
        (page("{{AI-retrieved source}}{{OpenAI}}" + LONG), None),
    ],
)
def test_what_is_no_article_says_why(given: dict[str, Any], unfit: str | None) -> None:
    assert measure_page(given, RULES).exclusion == unfit


@pytest.mark.parametrize(
    ("talk", "topic", "on"),
    [
        ("{{GA|12:00, 14 July 2025 (UTC)|topic=Films|page=1}}", "Films", date(2025, 7, 14)),
        ("{{ga|2025-07-14|topic = Film }}", "Film", date(2025, 7, 14)),
        ("{{GA|date=14 July 2025|topic=}}", None, date(2025, 7, 14)),
        ("{{GA|14 July|topic=Art}}", "Art", None),
        ("{{GA|~~~~~|topic=Art}}", "Art", None),
        ("{{Talk header}}\n{{GA|99 Foo 20255555|topic=Art}}", "Art", None),
        (
            "{{ArticleHistory|action1=GAN|action1date=1 May 2025|action1result=failed"
            "|action2=GAN|action2date=2 June 2025|action2result=listed"
            "|action3=PR|action3date=3 July 2025|currentstatus=GA|topic=Songs}}",
            "Songs", date(2025, 6, 2),
        ),
        *(
            (f"{{{{Article milestones|action1=GAN|action1date=5 July 2026|action1result=listed"
             f"|action2=FAC|action2result=failed|currentstatus={status}|topic=Songs}}}}",
             "Songs", date(2026, 7, 5))
            for status in ("GA", "FFAC/GA", "ffa/ga")
        ),
        *((f"{{{{Article history|currentstatus={status}|topic=Songs}}}}", None, None)
          for status in ("DGA", "FGAN", "FFA", "FA")),
        ("{{GA|14 July 2025|subtopic=Songs}}", "Songs", date(2025, 7, 14)),
        ("No template", None, None),
        ("{{GA|", None, None),
    ],
)  # fmt: skip
def test_the_talk_page_says_topic_and_day(talk: str, topic: str | None, on: date | None) -> None:
    assert parse_assessment(talk) == Assessment(topic, on)


@pytest.mark.parametrize(
    ("talk", "is_open"),
    [
        ("{{GAR/link|12:00, 1 May 2026 (UTC)|page=2|GARpage=1|status= }}{{GA|topic=Art}}", True),
        ("{{Article history|currentstatus=GA|topic=Art}}{{gar/link|page=2}}", True),
        ("{{GAR request}}", True),
        ("{{GAR/link|page=2|GARpage=1|status=kept}}{{GA|topic=Art}}", False),
        ("{{GA|topic=Art}}", False),
    ],
)
def test_the_talk_page_says_whether_the_status_is_being_reassessed(
    talk: str, is_open: bool
) -> None:
    assert parse_assessment(talk, RULES.reassessment).under_reassessment is is_open


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("No template", ""),
        ("{{Update|date=May 2026}} {{cn|date=June 2026}} {{Update|date=May 2026}}", "cn, update"),
        ("{{Multiple issues|\n{{Tone}}\n{{POV|date=May 2026}}\n}}", "pov, tone"),
        ("<ref>{{cite_web|url=https://a.example|date=May 2020}}{{Dead link|date=May 2026}}</ref>",
         "dead link"),
        ("{{Use dmy dates|date=May 2026}}{{EngvarB|date=May 2026}}{{Citation|date=May 2020}}", ""),
        ("{{Webarchive|date=1 May 2020}}", ""),
        ("{{Slop}}", "ai-generated"),
    ],
)  # fmt: skip
def test_maintenance_tags_are_those_that_bots_date_or_a_box_holds(text: str, tags: str) -> None:
    alias = [{"title": "Template:AI-generated"}] if "Slop" in text else []
    assert of(text, templates=alias).maintenance_tags == tags


@given(st.text(alphabet="{}|[]<>=GA topic\n123'", max_size=200))
def test_no_wikitext_is_an_error(text: str) -> None:
    parse_assessment(text)
    found = measure_page(page(text), RULES)
    assert found.revision_at == datetime(2025, 6, 1, tzinfo=UTC)
    assert min(found.words, found.headings, found.links, found.reference_urls) >= 0


@pytest.mark.parametrize(
    ("topic", "category"),
    [("Films", "Media and drama"), ("  war ", "Warfare"), ("Video games", "Video games"),
     ("MTransportsic", UNKNOWN), ("", UNKNOWN), (None, UNKNOWN)],
)  # fmt: skip
def test_topics_have_a_main_category(topic: str | None, category: str) -> None:
    assert find_category(topic) == category
