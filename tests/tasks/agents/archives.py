"""Small archives of pages for tests of the baseline."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

LIGHTHOUSE = """# Harrow Point Lighthouse

[Home](https://a.example/) [News](https://a.example/news) [Shop](https://a.example/shop). [More](https://a.example/m).

We use cookies to improve your experience on this website. Subscribe to our newsletter today.

Harrow Point Lighthouse is a granite tower on the northern shore of Lake Ettrick in Varnland. It was
built in 1874 by the engineer Oskar Lindqvist after the wreck of the steamer Calliope.

The lamp of Harrow Point Lighthouse was first lit on 3 May 1875 and could be seen for 19 miles.

| Height | 31 m |
| --- | --- |
"""
WRECK = """The steamer Calliope struck the rocks below Harrow Point on 12 November 1872.
The inquiry into the loss of the Calliope asked for a lighthouse at Harrow Point.
Oskar Lindqvist had drawn the first plans for the tower of Harrow Point Lighthouse in 1873.
Read more about the wreck in our shop, where you can buy postcards of it.
"""
KEEPERS = """The last keeper of Harrow Point Lighthouse, Maren Dahl, left it in 1961 after 27 years.
Maren Dahl kept a weather diary that the museum of Ettrick shows to visitors.
The light of Harrow Point Lighthouse was made automatic in the same year and is still in use.
"""
BREAD = """The bakers of Tolmen make a dark rye bread that is known far beyond the valley.
The oldest bakery of Tolmen was opened in 1731 and has belonged to the same family ever since.
"""
ENCYCLOPEDIA = (
    "Harrow Point Lighthouse is a lighthouse that only the encyclopedia calls magnificent."
)


def page(url: str, text: str, title: str = "", status: str = "ok") -> dict[str, str]:
    return {"edition": "e", "url": url, "title": title, "text": text, "status": status}


PAGES = (
    page("https://towers.example/harrow", LIGHTHOUSE, "Harrow Point Lighthouse | Towers"),
    page("https://wrecks.example/calliope", WRECK, "The wreck of the Calliope [1872]"),
    page("https://keepers.example/dahl", KEEPERS),
    page("https://bread.example/tolmen", BREAD, "Bread of Tolmen"),
    page("https://en.wikipedia.org/wiki/Harrow_Point_Lighthouse", ENCYCLOPEDIA, "Harrow Point"),
    page("https://copy.example/harrow", f"From Wikipedia, the free encyclopedia\n\n{ENCYCLOPEDIA}"),
    page("https://gone.example/harrow", ENCYCLOPEDIA, "Page not found"),
    page("https://broken.example/harrow", ENCYCLOPEDIA, status="unfetchable"),
)


def write_archive(folder: Path, pages: tuple[dict[str, str], ...] = PAGES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    names = ("edition", "url", "title", "text", "status")
    table = pa.table({name: [row[name] for row in pages] for name in names})
    pq.write_table(table, folder / "pages.parquet")
    return folder
