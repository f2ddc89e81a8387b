"""Invented harbours: articles about them, and a site of pages from which they could be written."""

import re
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta

from tests.rigs.mediawiki.pages import WikiPage
from tests.servers.http import HTML, Request, Response

UNTIL = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
SINCE = UNTIL - timedelta(days=150)
"""Days in which the articles were created: within the six months that a month's edition looks back
on."""
PLACES = ("Aldmoor", "Brankholm", "Cresthaven", "Dunmarrow", "Eskvale", "Farrowby", "Gilswick",
          "Hathersand", "Inverloch", "Jorvenna", "Kestleton", "Lamberwick")  # fmt: skip
MAKERS = ("Anders Vold", "Beatrix Hume", "Casimir Lind", "Dorothea Ames", "Emil Sand",
          "Frieda Moss", "Gustav Reyn")  # fmt: skip
N_FURNITURE = 20
"""Sentences of a page that articles do not have."""
N_SENTENCES = 14
SENTENCES = (
    "The harbour of {place} was dug between {year} and {later} by {n} workers under the engineer "
    "{maker}, who had drained two marshes on the same coast before",
    "Its outer wall of {stone} is {m} metres long and rises {h} metres above the lowest tide, so "
    "that even the winter storms of {later} did not pass over it",
    "The lighthouse on the northern mole was lit on {d} May {later} and burned {n} kilograms of "
    "coal in each night of its first winter, as its keeper noted",
    "A ferry to the island of {place}holm has crossed {h} times a week since {latest}, and carried "
    "{n} travellers in its first year under captain {other}",
    "The fish market was roofed in {latest} with {m} sheets of glass, after a design that {other} "
    "had drawn for a railway station which was never built",
    "In the great fire of {fire} the warehouses along the eastern quay burned for {d} days, and "
    "{h} of the {m} houses behind them were lost",
    "The shipyard of {maker} and sons launched {h} barques and {d} steamers before it closed in "
    "{closed}, when the channel had silted up to {d} feet",
    "A museum in the old customs house shows {m} models of ships, the log of the pilot {other} "
    "and a bell that was raised from the wreck of the {stone} Queen",
)


class Place:
    """An invented harbour, and what is true of it: every sentence differs from all others."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.name = PLACES[n]
        self.title = f"Harbour of {self.name}"
        year = 1700 + 9 * n
        self.sentences = [
            SENTENCES[k % len(SENTENCES)].format(
                place=self.name, maker=MAKERS[(n + k) % 7], other=MAKERS[(n + k + 3) % 7],
                year=year + k, later=year + k + 12, latest=year + k + 80, fire=year + k + 44,
                closed=year + k + 130, n=310 + 37 * n + 11 * k, m=61 + 7 * n + k,
                h=5 + n + k % 4, d=3 + (n + k) % 9,
                stone=("granite", "basalt", "limestone")[(n + k) % 3],
            )
            for k in range(N_SENTENCES)
        ]  # fmt: skip

    def wikitext(self) -> str:
        """An article that says all of it, with a reference for every second sentence."""
        said = [f"{text}." for text in self.sentences]
        for k in range(0, N_SENTENCES, 2):
            url = f"https://library.example/{self.n}/{k}"
            said[k] += f"<ref>{{{{cite web|url={url}|title=Annals {k}}}}}</ref>"
        half = N_SENTENCES // 2
        return (
            f"The '''{self.title}''' is a harbour. {' '.join(said[:half])}\n\n== History ==\n"
            f"{' '.join(said[half:])}\n\n== References ==\n{{{{reflist}}}}\n"
        )


def month_pages(n_articles: int) -> list[WikiPage]:
    """Good articles of the window, and one from before it."""
    pages = [
        WikiPage(
            title=place.title,
            wikitext=place.wikitext(),
            created=SINCE + timedelta(days=7 * place.n + 1),
            good_article_since=UNTIL - timedelta(days=5),
            topic="History",
        )
        for place in map(Place, range(n_articles))
    ]
    old = pages[0].model_copy(update={"title": "Old mill", "created": SINCE - timedelta(days=400)})
    return [old, *pages]


def write_furniture(place: Place, page: int) -> str:
    """Text of a page that its article does not have: without it the page would be a copy."""
    return " ".join(
        f"In the year {1801 + 3 * n + page} the harbour of {place.name} was left by "
        f"{17 * n + page} ships with {5 * n + 2} crates of salt and {n + 9} barrels of tar."
        for n in range(N_FURNITURE)
    )


class Sources:
    """A site whose pages say what articles say, two sentences each, and more; some are gone."""

    def __init__(self, slow: float = 0.0) -> None:
        self.address = ""
        self.slow = slow
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Response:
        with self._lock:
            self.asked[request.path] += 1
        found = re.fullmatch(r"/source/(\d+)/(\d+)", request.path)
        if not found:
            return Response(404, b"<html><title>Not found</title></html>", HTML)
        place, page = Place(int(found[1])), int(found[2])
        said = "".join(f"<p>{text}.</p>" for text in place.sentences[2 * page : 2 * page + 2])
        body = (
            f"<html lang='en'><head><title>{place.title}, part {page}</title></head><body><article>"
            f"<h1>{place.title}</h1>{said}<p>{write_furniture(place, page)}</p>"
            "</article></body></html>"
        )
        return Response(200, body.encode(), HTML, delay_seconds=self.slow)

    def report(self, prompt: str, chosen: range, dead: bool) -> str:
        """What an agent writes: some of the sentences, each with the page that says so."""
        place = next(p for p in map(Place, range(len(PLACES))) if f'"{p.title}"' in prompt)
        said = [
            f"{place.sentences[k]} [Annals]({self.address}/source/{place.n}/{k // 2})."
            for k in chosen
        ]
        if dead:
            said.append(f"It was visited by a queen [Court]({self.address}/gone/{place.n}).")
        half = len(said) // 2
        return (
            f"# {place.title}\n\n{' '.join(said[:half])}\n\n## History\n\n{' '.join(said[half:])}\n"
        )
