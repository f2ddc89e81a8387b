"""A page that only leads on, by a refresh or to a PDF that it shows, is read where it leads."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.configuration.web import ReadingBounds, WaybackMachine
from tasks.web import fetcher
from tasks.web.leads import parse_refresh
from tasks.web.page import FetchedContent, FetchResult, ReadPage
from tasks.web.readers import PageReaders, read_page
from tests.rigs.made_pdfs import made_pdfs
from tests.servers.web_pages import Asked, Steps, answer, serving_pages
from tests.tasks.web.fetched import Outcome, fetch, web_settings

PDF = made_pdfs()[0].content
HIDDEN = "<meta http-equiv='refresh' content='0; url=../new'>"
STORY = "<p>" + "The bridge of Tolvane was opened in 1931 by the mayor of the town. " * 8 + "</p>"
PAGE = f"<html><title>Bridge</title>{STORY}"
HTML = "text/html; charset=utf-8"


class ReadersHere(PageReaders):
    """Reads pages in this process: a helper takes half a second to start."""

    async def read(self, material: FetchedContent) -> ReadPage:
        return read_page(material, self._bounds)


def refresh(value: str, body: str = "<a href='/new'>Redirecting</a>") -> str:
    head = f'<title>Redirecting</title><meta http-equiv="refresh" content="{value}">'
    return f"<html><head>{head}</head><body>{body}</body></html>"


@dataclass
class Visit:
    """One page of a site, as it was fetched and read."""

    fetched: FetchResult
    said: ReadPage | None
    asked: list[str]
    """What was asked for after it, without its folder."""
    place: str
    """Its folder's address."""


def visit(sites: Sequence[dict[str, str]], path: str = "/a/old", **bounds: int) -> list[Visit]:
    """Fetch and read a page of each of some sites, folders of one server; all links are relative.

    `{site}` in a page is the folder's address; one that begins with `HTTP` is a whole answer.
    """

    def handler(asked: Asked) -> Steps:
        number, _, rest = asked.target[1:].partition("/")
        pages = sites[int(number)]
        body = pages.get(f"/{rest}", pages.get(f"/{rest.partition('?')[0]}", ""))
        body = body.replace("{site}", f"http://{asked.headers['host']}/{number}")
        if body == "PDF":
            return [answer(PDF, content_type="application/pdf")]
        if body.startswith("HTTP"):
            return [body.encode()]
        return [answer(body.encode(), 200 if body else 404, content_type=HTML)]

    with serving_pages(handler) as site, pytest.MonkeyPatch.context() as patch:
        patch.setattr(fetcher, "PageReaders", ReadersHere)
        urls = [site.url(f"/{number}{path}") for number in range(len(sites))]
        outcome = fetch(urls, web_settings([site.place], bounds=bounds))
        return [
            Visit(
                outcome.fetched[url],
                read(outcome, outcome.fetched[url]),
                [
                    asked.target.removeprefix(f"/{number}")
                    for asked in site.asked
                    if asked.target.startswith(f"/{number}/")
                ][1:],
                site.url(f"/{number}"),
            )
            for number, url in enumerate(urls)
        ]


def read(outcome: Outcome, fetched: FetchResult) -> ReadPage | None:
    if fetched.sha is None:
        return None
    return read_page(
        FetchedContent(
            source=fetched.source,
            url=fetched.asked_url,
            final_url=fetched.final_url or "",
            http_status=fetched.http_status or 0,
            headers=fetched.headers,
            content=outcome.store.get(fetched.sha),
        ),
        ReadingBounds(),
    )


LEADING = [
    refresh("0; url=../new"),
    refresh("0;URL='../new'"),
    refresh("5; Url = &quot;../new&quot;"),
    refresh("0;&#32;url=&#x2e;./new"),
    refresh("10,../new"),
    refresh("0 ../new"),
    refresh("1.5;../new#part"),
    refresh("0; url={site}/new"),
    refresh("0; url={site}/new").replace("http:", ""),
    "<META CONTENT='0;url=../new' HTTP-EQUIV=Refresh>",
    "<html><head><base href='{site}/else/where/'><meta http-equiv=refresh content=0;../../new>",
    "<html><body>" + STORY + "<meta http-equiv='refresh' content='3; url=../new'>",
    f"<noscript>{HIDDEN}</noscript><p>Please wait",
    "HTTP/1.1 200 OK\r\nrefresh: 0; url=../new\r\ncontent-length: 0\r\n\r\n",
    f"HTTP/1.1 200 OK\r\nrefresh: 3;../new\r\ncontent-type: text/plain\r\n\r\n{STORY}",
]


def test_a_page_that_leads_on_by_a_refresh_is_read_where_it_leads() -> None:
    for page, seen in zip(
        LEADING, visit([{"/a/old": p, "/new": PAGE} for p in LEADING]), strict=True
    ):
        assert seen.asked == ["/new"], page
        fetched, target = seen.fetched, f"{seen.place}/new"
        assert (fetched.final_url, fetched.http_status, fetched.tries) == (target, 200, 1)
        assert [(hop.status, hop.url) for hop in fetched.redirects] == [(200, target)]
        assert seen.said is not None
        assert (seen.said.status, seen.said.title) == ("ok", "Bridge")


STAYING = [
    refresh("11; url=/new", STORY),
    refresh("600; url=/new", "<p>The water stands at 3.2 m."),
    refresh("5; url=old", STORY),
    refresh("5; url=#top", STORY),
    refresh("5", STORY),
    refresh("0; url=", STORY),
    refresh("0; url=javascript:go()", STORY),
    refresh("0; url=app://new", STORY),
    f"<html><head><noscript><p>{HIDDEN}</p></noscript></head>{STORY}",
    f"<html><noscript>{HIDDEN}</noscript>{STORY}",
    f"<!-- {refresh('0; url=../new', '')} -->{STORY}",
    f"<textarea>{refresh('0; url=../new', '')}</textarea>{STORY}",
    f"<html><script>var x = `{refresh('0; url=../new', '')}`</script>{STORY}",
    f"HTTP/1.1 200 OK\r\nrefresh: 600\r\n\r\n<html>{STORY}",
    f"HTTP/1.1 404 No\r\ncontent-type: text/html\r\n\r\n{refresh('0; url=../new')}",
    f"HTTP/1.1 202 No\r\ncontent-type: text/html\r\n\r\n{refresh('0; url=../new')}",
]


def test_a_page_that_leads_nowhere_else_is_what_it_is() -> None:
    statuses = ["ok"] * (len(STAYING) - 2) + ["unfetchable", "bot_wall"]
    visits = visit([{"/a/old": page, "/new": PAGE} for page in STAYING])
    for page, status, seen in zip(STAYING, statuses, visits, strict=True):
        assert (seen.asked, seen.fetched.redirects) == ([], []), page
        assert seen.said is not None
        assert seen.said.status == status, (page, seen.said.signals)


def test_a_refresh_is_a_redirect_with_the_same_bounds() -> None:
    circle, far, private = visit(
        [
            {"/a/old": refresh("0; url=2"), "/a/2": refresh("0; url=old")},
            {"/a/old": refresh("0; url=1")}
            | {f"/a/{number}": refresh(f"0; url={number + 1}") for number in range(1, 9)},
            {"/a/old": refresh("0; url=http://10.0.0.1/admin")},
        ]
    )
    assert (circle.fetched.outcome, circle.asked) == ("failed", ["/a/2"])
    assert "circle" in (circle.fetched.error or "")
    assert (far.fetched.outcome, len(far.asked)) == ("failed", 4)
    assert "more than 4 redirects" in (far.fetched.error or "")
    assert (private.fetched.outcome, private.asked) == ("refused", [])
    assert "redirects to http://10.0.0.1/admin: 10.0.0.1 is a pr" in (private.fetched.error or "")


def test_a_cookie_of_a_page_with_a_refresh_goes_along() -> None:
    def handler(asked: Asked) -> Steps:
        if asked.headers.get("cookie") == "seen=1":
            return [answer(PAGE.encode(), content_type=HTML)]
        return [answer(refresh("0; url=/new").encode(), content_type=HTML, set_cookie="seen=1")]

    with serving_pages(handler) as site:
        outcome = fetch([site.url("/a")], web_settings([site.place]))
        assert outcome.content(site.url("/a")) == PAGE.encode()


def test_a_stored_page_that_only_leads_on_is_empty_not_missing() -> None:
    said = read_page(
        FetchedContent(
            source="direct", url="https://x.example/old", final_url="https://x.example/old",
            http_status=200, headers={"content-type": HTML},
            content=refresh("0; url=/new").encode(),
        ),
        ReadingBounds(),
    )  # fmt: skip
    assert said.status == "empty"
    assert "empty: markup: refresh to https://x.example/new" in said.signals


@pytest.mark.parametrize(
    "value",
    [
        "",
        "0",
        "0;",
        "x; url=/new",
        "99999999999; url=/n",
        "0;url=''",
        "0;url=//a:b/",
        "0;url=//[::1/",
    ],
)
def test_what_is_no_refresh_leads_nowhere(value: str) -> None:
    assert parse_refresh(value, "https://x.example/") is None
    assert parse_refresh(" " * 30_000 + value, "https://x.example/") is None


@given(st.text(st.sampled_from("htp:/[]@?#%=a0\udcff\u2100 \n'."), max_size=30))
def test_no_refresh_stops_what_fetches(where: str) -> None:
    for url in ("https://x.example/a", "https://x.example/web/20240102030405id_/http://a.example/"):
        parse_refresh(f"0;url={where}", url)


VIEWER = (
    "<!DOCTYPE html><html><head><title>PDF.js viewer</title></head><body><div id='toolbar'><span>"
    + "</span> <span>".join(["Thumbnails", "Document Outline", "Attachments", "Layers"] * 40)
    + "</span></div><div id='viewerContainer'><div id='viewer' class='pdfViewer'></div></div>"
)
"""With a toolbar of more words than some articles have."""


def journal(shown: str) -> str:
    return (
        "<html lang='en'><head><title>View of Bridges of Varn</title></head><body><header><a "
        "class='return' href='/a/view/7'>Return to Article Details</a> <a class='download' "
        f"href='download/7/3' download>Download PDF</a></header>{shown}</body></html>"
    )


SHOWING = [
    journal("<iframe src='../pdf.js/web/viewer.html?file=..%2F..%2Fa%2Fdownload%2F7%2F3'>"),
    journal("<div id='pdfCanvasContainer'><iframe src=''></iframe></div>"),
    journal("<iframe src='../web/viewer.html?file=..%2fa%2fdownload%2f7%2F3%23page=2'>"),
    journal("<iframe src='download/7/3'></iframe>"),
    journal("<embed src='download/7/3' type='application/pdf'>"),
    journal("<object data='download/7/3' type='application/pdf;x=1'><p>No PDFs here.</object>"),
    journal("<object data='download/7/3' type='application/pdf'><embed src='download/7/3'>"),
    journal("<iframe src='https://docs.google.com/viewer?a=1&amp;url={site}/a/download/7/3'>"),
    journal("<iframe data-src='download/7/3#toolbar=0' loading='lazy'>"),
    journal("<script>PDFObject.embed('download/7/3', '#x')</script>"),
    journal('<script>pdfjsLib.getDocument({url: "download/7/3"})</script>'),
    journal("<a href='download/7/3' class='pdfemb-viewer'></a>"),
    journal(f"<p>{'Read it here. ' * 20}</p><iframe src='download/7/3'></iframe>"),
]


def check_pdf(seen: Visit, page: str) -> None:
    target = f"{seen.place}/a/download/7/3"
    assert [asked.partition("#")[0] for asked in seen.asked] == ["/a/download/7/3"], page
    assert seen.fetched.final_url == target
    assert [(hop.status, hop.url) for hop in seen.fetched.redirects] == [(200, target)]
    assert seen.said is not None
    assert (seen.said.status, seen.said.media_type) == ("ok", "application/pdf")
    assert "Tolvane swing bridge" in (seen.said.text or "")


def test_the_pdf_that_a_page_only_shows_is_its_text() -> None:
    visits = visit([{"/a/old": page, "/a/download/7/3": "PDF"} for page in SHOWING])
    for page, seen in zip(SHOWING, visits, strict=True):
        check_pdf(seen, page)


def test_the_pdf_that_a_viewers_address_names_is_its_text() -> None:
    for path in ("/pdf.js/web/viewer.html?file=..%2F..%2Fa%2Fdownload%2F7%2F3",
                 "/a/viewer.html?zoom=1&file=download/7/3",
                 "/a/pdfviewer?src=download/7/3"):  # fmt: skip
        [seen] = visit([{path.partition("?")[0]: VIEWER, "/a/download/7/3": "PDF"}], path)
        check_pdf(seen, path)


WITHOUT_PDF = [
    "<iframe src='gone.pdf'></iframe>",
    "<iframe src='no-pdf.pdf'></iframe>",
    "<iframe src='http://10.0.0.1/x.pdf'></iframe>",
    "<iframe src='loop.pdf'></iframe>",
    "<iframe src='1.pdf'></iframe><iframe src='2.pdf'></iframe>",
    "<iframe src='large.pdf'></iframe>",
    "<div class='pdfViewer'></div>",
    "<embed type='application/pdf' src='data:application/pdf;base64,JVBERi0x'>",
]


def test_a_page_whose_pdf_cannot_be_had_has_no_text() -> None:
    head = "<html><title>Bridges of Varn</title><h1>Bridges of Varn</h1><p>Report number 12.</p>"
    others = {
        "/a/no-pdf.pdf": PAGE, "/a/1.pdf": "PDF", "/a/2.pdf": "PDF",
        "/a/large.pdf": "%PDF-1.4" + " " * 400_000,
        "/a/loop.pdf": "HTTP/1.1 302 Found\r\nlocation: loop.pdf\r\ncontent-length: 0\r\n\r\n",
    }  # fmt: skip
    visits = visit([{"/a/old": head + shown} | others for shown in WITHOUT_PDF])
    for shown, seen in zip(WITHOUT_PDF, visits, strict=True):
        assert seen.fetched.outcome == "fetched", shown
        assert (seen.fetched.final_url, seen.fetched.redirects) == (f"{seen.place}/a/old", [])
        assert seen.said is not None
        assert seen.said.status == "empty", (shown, seen.said.signals)
        assert any(signal.startswith("empty: markup: shows ") for signal in seen.said.signals)


def test_a_page_with_a_text_of_its_own_is_read_whatever_it_shows() -> None:
    shown = ["<iframe src='x.pdf'></iframe>", "<embed src='x' type='application/pdf'>"]
    pages = [f"<html>{STORY}{each}" for each in shown] + [
        f"<html><p>Founded 1919. 34 plots.</p>{each}"
        for each in ("<iframe src='map.html'></iframe>", "<embed src='film.swf'>",
                     "<iframe src='pdf.js/web/viewer.html'></iframe>")
    ]  # fmt: skip
    for seen in visit([{"/a/old": page, "/a/x.pdf": "PDF", "/a/x": "PDF"} for page in pages]):
        assert seen.asked == []
        assert seen.said is not None
        assert seen.said.status == "ok"


def test_a_snapshot_leads_to_another_snapshot() -> None:
    cited = "http://cited.example.org/a/{}"
    pages = [
        (refresh("0; url=/new"), "http://cited.example.org/new", PAGE.encode()),
        (refresh("0; url=http://other.example.org/x"), "http://other.example.org/x", PAGE.encode()),
        (journal("<iframe src='x.pdf'></iframe>"), "http://cited.example.org/a/x.pdf", PDF),
    ]

    def handler(asked: Asked) -> Steps:
        if asked.path == "/available":
            [url] = parse_qs(urlsplit(asked.target).query)["url"]
            place = f"http://{asked.headers['host']}/web/20240102030405/{url}"
            found = f'{{"closest": {{"available": true, "url": "{place}"}}}}'
            return [answer(f'{{"archived_snapshots": {found}}}'.encode())]
        if asked.target[-1].isdigit():  # as it was, but for its coding
            page = pages[int(asked.target[-1])][0]
            return [answer(page.encode(), content_type=HTML, content_encoding="gzip")]
        body = PDF if asked.target.endswith(".pdf") else PAGE.encode()
        return [answer(brotli.compress(body, quality=1), content_encoding="br")]

    with serving_pages(handler) as site:
        archive = WaybackMachine(url=site.url("/available"), per_minute=100_000)
        urls = [cited.format(number) for number in range(len(pages))]
        outcome = fetch(urls, web_settings([site.place], wayback=archive), source="wayback")
        for url, (_, target, body) in zip(urls, pages, strict=True):
            assert outcome.fetched[url].final_url == site.url(f"/web/20240102030405id_/{target}")
            assert outcome.content(url) == body
            assert outcome.fetched[url].redirects[-1].url.endswith(target)
