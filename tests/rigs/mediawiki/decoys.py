"""Pages that a collection of the window from March to November 2025 must tell apart."""

from datetime import UTC, datetime, timedelta

from tasks.warehouse.wiki_editions import CandidateDecision
from tests.rigs.mediawiki.pages import Later, WikiPage

SINCE = datetime(2025, 3, 1, tzinfo=UTC)
UNTIL = datetime(2025, 12, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LISTED = datetime(2025, 12, 10, tzinfo=UTC)
TEXT = (
    "the old mill stands beside a narrow river where farmers once brought their grain and "
    "waited for it to be ground while children played under the willows"
)


def prose(title: str, n_words: int = 400, n_urls: int = 3) -> str:
    """An article of that many words: two sections, references, an external link."""
    words = TEXT.split()
    body = " ".join(words[(len(title) + number) % len(words)] for number in range(n_words))
    cited = "".join(
        f"<ref>{{{{cite web|url=https://source{number}.example/{len(title)}|title=Source {number}"
        "}}</ref>"
        for number in range(n_urls)
    )
    return (
        f"'''{title}''' is made for a test, see [[Mill]].{cited}\n\n== History ==\n{body}.\n\n"
        "== Reception ==\nIt was well received.\n\n== References ==\n{{reflist}}\n"
    )


def good(title: str, created: datetime, **more: object) -> WikiPage:
    """A good article that was promoted after the window."""
    fields = {
        "title": title, "wikitext": prose(title), "created": created,
        "good_article_since": LISTED, "topic": "History",
    }  # fmt: skip
    return WikiPage.model_validate(fields | more)


IN_JUNE = datetime(2025, 6, 10, 10, tzinfo=UTC)
_DECIDED: tuple[tuple[WikiPage, set[CandidateDecision]], ...] = (
    # At the edges, to the second.
    (good("First moment", SINCE), {"chosen"}),
    (good("Moment before the first", SINCE - SECOND), {"created_before"}),
    (good("Last moment", UNTIL - SECOND), {"chosen"}),
    (good("Moment after the last", UNTIL), {"created_after"}),
    # Where page ids mislead.
    (
        good("Imported in June", datetime(2010, 1, 1, tzinfo=UTC), made=IN_JUNE),
        {"created_before"},
    ),
    (
        good("Given an early id", SINCE + timedelta(days=1), made=SINCE - timedelta(days=9)),
        {"chosen"},
    ),
    (
        good("Given a late id", UNTIL - timedelta(days=1), made=UNTIL + timedelta(days=9)),
        {"chosen"},
    ),
    # What counts as created.
    (
        good(
            "Redirect for ten years",
            datetime(2015, 1, 1, tzinfo=UTC),
            wikitext="#REDIRECT [[Mill]]",
            later=(Later(at=IN_JUNE, wikitext=prose("Redirect for ten years")),),
        ),
        {"created_before", "before_by_id"},
    ),
    (
        good(
            "Redirect for a week",
            IN_JUNE,
            wikitext="#REDIRECT [[Mill]]",
            later=(Later(at=IN_JUNE + timedelta(days=7), wikitext=prose("Redirect for a week")),),
        ),
        {"chosen"},
    ),
    (
        good("Written long ago", datetime(2012, 1, 1, tzinfo=UTC)),
        {"before_by_id", "created_before"},
    ),
    # What is no article.
    (good("List of mills", IN_JUNE), {"list"}),
    (
        good(
            "Mills of the north",
            IN_JUNE,
            wikitext="{{Short description|Wikimedia list article}}\n" + prose("Mills"),
        ),
        {"list"},
    ),
    (good("Mill (disambiguation)", IN_JUNE), {"disambiguation"}),
    (good("Stub of a mill", IN_JUNE, wikitext=prose("Stub", 40)), {"too_short"}),
    # What editors say of it.
    (
        good(
            "Mill of a machine",
            IN_JUNE,
            wikitext="{{Slop|date=June 2025}}\n" + prose("Mill of a machine"),
        ),
        {"machine_written"},
    ),
    (
        good(
            "Mill in doubt",
            IN_JUNE,
            talk="{{GAR/link|10:00, 1 May 2026 (UTC)|page=2|GARpage=1|status= }}\n"
            "{{GA|10:00, 10 December 2025 (UTC)|topic=History|page=1}}",
        ),
        {"under_reassessment"},
    ),
    # Titles that break careless clients.
    (good("Čapek – 東京 🦉 Ñandú", IN_JUNE), {"chosen"}),
    (good("Rock & \"Roll\": the 'Story' + 100% C/D?", IN_JUNE), {"chosen"}),
    (good("Mill/House", IN_JUNE), {"chosen"}),
    (good("Mill House", IN_JUNE), {"chosen"}),
    # What the talk page says.
    (
        good(
            "Told by its history",
            IN_JUNE,
            talk="{{Article history|action1=PR|action1date=1 May 2025|action1result=reviewed"
            "|action2=GAN|action2date=09:00, 10 December 2025 (UTC)|action2result=listed"
            "|action2oldid=5|currentstatus=GA|topic=Songs}}",
        ),
        {"chosen"},
    ),
    (good("Told by nobody", IN_JUNE, talk="Nothing here."), {"chosen"}),
)
EXPECTED = {page.title: (page, frozenset(decisions)) for page, decisions in _DECIDED}
"""By title: the page, and what may become of it."""

NOT_LISTED = (
    WikiPage(title="Never good", wikitext=prose("Never good"), created=IN_JUNE),
    WikiPage(title="Mill", wikitext=prose("Mill"), created=datetime(2011, 1, 1, tzinfo=UTC)),
    WikiPage(
        title="No longer good",
        wikitext=prose("No longer good"),
        created=IN_JUNE,
        good_article_since=IN_JUNE + timedelta(days=30),
        good_article_until=IN_JUNE + timedelta(days=90),
    ),
    WikiPage(title="Way to the mill", wikitext="", created=IN_JUNE, redirect_to="Mill"),
)
"""Pages that are no good articles when they are listed."""


def decoys() -> list[WikiPage]:
    return [page for page, _ in EXPECTED.values()] + list(NOT_LISTED)
