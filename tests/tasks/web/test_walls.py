"""Walls are told by signals of two kinds; honest pages that look like walls stay honest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.configuration.web import ReadingBounds
from tasks.web.page import ExtractedText
from tasks.web.readers import read_page
from tasks.web.walls import classify_text, decide_wall, find_signals
from tests.rigs.saved_pages import Answer, near_misses, page, walls

BOUNDS = ReadingBounds()
NOTHING = ExtractedText(text="")
STORY = "The bridge of Tolvane was opened in 1931 by the mayor of the town. " * 20


@pytest.mark.parametrize("answer", walls(), ids=lambda answer: answer.name)
def test_a_wall_is_told_from_what_was_cited(answer: Answer) -> None:
    said = read_page(answer.material(), BOUNDS)
    assert said.status == answer.status, said.signals
    assert said.text is None
    kinds = {s.split(": ")[1] for s in said.signals if s.startswith(answer.status)}
    assert len(kinds) >= 2 or (said.error or "").startswith("it only says: ")


@pytest.mark.parametrize("answer", near_misses(), ids=lambda answer: answer.name)
def test_an_honest_page_that_looks_like_a_wall_stays_ok(answer: Answer) -> None:
    said = read_page(answer.material(), BOUNDS)
    assert said.status == "ok", said.signals


def test_one_signal_is_noted_but_gives_no_status() -> None:
    story = "The bridge of Tolvane was opened in 1931 by the mayor of the town. " * 20
    assert classify_text("https://x.example/", "Page not found", story) == (
        "ok",
        ("soft_404: title: page not found",),
    )
    status, signals = classify_text(
        "https://x.example/", "Bridges", story + "You have been blocked."
    )
    assert (status, signals) == ("ok", ("bot_wall: words: you have been blocked",))


def test_the_same_words_weigh_more_in_a_page_that_says_little_else() -> None:
    words = "The requested URL was not found on this server."
    assert classify_text("", "Bridges", words)[0] == "soft_404"
    assert classify_text("", "Bridges", words + " The bridge was opened in 1931." * 9)[0] == "ok"


def test_a_page_whose_text_is_its_title_is_empty() -> None:
    assert classify_text("", "Astrolabe | Museum", "Astrolabe | Museum\n======\n")[0] == "empty"
    assert classify_text("", "Astrolabe | Museum", "Astrolabe | Museum\nBrass, 1086.")[0] == "ok"


def test_links_do_not_count_as_what_a_page_says() -> None:
    menu = "\n".join(f"* [Section {n}](https://x.example/{n})" for n in range(99))
    wall = "Verify you are human by completing the action below."
    assert classify_text("", None, f"{menu}\n{wall}")[0] == "bot_wall"


def test_the_text_of_a_picture_counts_as_what_a_page_says() -> None:
    picture = (
        "![Image 1: A satellite picture of Kentucky of May 23, with clouds](https://x.example/i)"
    )
    assert classify_text("", "map.png", f"map.png\n===\n{picture}")[0] == "ok"


@pytest.mark.parametrize(
    ("url", "final_url", "wall"),
    [
        ("https://x.example/p/1", "https://x.example/login?next=/p/1", "login_wall"),
        ("https://x.example/login", "https://x.example/login/", None),
        ("https://x.example/p/1", "https://consent.x.example/?to=1", "cookie_wall"),
        ("https://x.example/p/1", "https://x.example/errors/404.html", "soft_404"),
        ("https://x.example/p/1", "https://x.example/", "soft_404"),
        ("https://x.example/", "https://www.x.example/", None),
        ("https://x.example/p/1", "https://x.example/p/1/", None),
        ("https://x.example/p/1", "https://choice.x.example/a.html?from=%2Fp%2F1", "cookie_wall"),
        ("https://x.example/p/1", "https://x.example/gdpr-consent/?to=%2F", "cookie_wall"),
        ("https://x.example/p/1", "https://x.example/my/zustimmung/auswahl?x=1", "cookie_wall"),
        ("https://x.example/p/1", "https://guce.x.example/a", "cookie_wall"),
        (
            "https://x.example/p/1",
            "https://x.example/options?to=https://x.example/p/1",
            "cookie_wall",
        ),
        ("https://x.example/p/1", "https://x.example/options/for-bridges", None),
        ("https://x.example/p/1", "https://x.example/informed-consent-in-surgery", None),
        ("https://x.example/p/1", "https://x.example/cookie-policy", None),
        ("https://x.example/consent/1", "https://x.example/consent/1/law", None),
    ],
)
def test_where_redirects_led_is_a_signal(url: str, final_url: str, wall: str | None) -> None:
    found = {signal.wall for signal in find_signals(NOTHING, url, final_url)}
    assert found - {"empty"} == ({wall} if wall else set())


@pytest.mark.parametrize(
    "words",
    [
        "We use cookies to measure our traffic.",
        "Wir finanzieren uns durch Werbung und brauchen dazu Ihre Einwilligung.",
        "Nous déposons des traceurs avec votre consentement.",
        "Wij vragen je toestemming om gegevens op te slaan.",
        "Necesitamos tu consentimiento para mostrarte anuncios.",
        "Con il tuo consenso mostriamo annunci.",
        "Potrzebujemy Twojej zgody.",
    ],
)
def test_a_consent_page_is_known_by_its_address_and_its_words(words: str) -> None:
    said, cited = ExtractedText(text=f"{words} {STORY}"), "https://x.example/p/1"
    led = "https://x.example/privacy-gate?to=%2Fp"
    assert decide_wall(find_signals(said, cited, led)) == "cookie_wall"
    assert decide_wall(find_signals(said, cited, cited)) is None
    assert decide_wall(find_signals(ExtractedText(text=STORY), cited, led)) is None


@pytest.mark.parametrize(
    ("headers", "html"),
    [
        ({"x-amzn-waf-action": "challenge"}, ""),
        ({}, "<script src='https://1.token.awswaf.com/challenge.js'></script><noscript>We need to "
             "verify that you are not a robot.</noscript>"),
        ({"sg-captcha": "challenge"}, "<meta http-equiv='refresh' content='0;/.well-known/x'>"),
        ({}, "<meta http-equiv='refresh' content='0;/.well-known/sgcaptcha/?r=%2F'></meta>"),
        ({}, "<iframe src='/_Incapsula_Resource?x=1'>Request unsuccessful.</iframe>"),
        ({}, "<title>Just a moment...</title><p>Please wait."),
    ],
)  # fmt: skip
def test_a_test_for_robots_may_come_with_202(headers: dict[str, str], html: str) -> None:
    material = page(html.encode(), content_type="text/html").model_copy(
        update={"http_status": 202, "headers": {"content-type": "text/html"} | headers}
    )
    assert read_page(material, BOUNDS).status == "bot_wall"
    story = material.model_copy(update={"content": f"<p>{STORY}".encode(), "headers": {}})
    assert read_page(story, BOUNDS).status == "ok"


@pytest.mark.parametrize("status", [600, 799, 999])
@pytest.mark.parametrize("content", [b"", b"<html><body></body></html>", b"\x89PNG\r\n\x1a\n"])
def test_a_status_that_does_not_exist_is_a_refusal(status: int, content: bytes) -> None:
    said = read_page(page(content).model_copy(update={"http_status": status}), BOUNDS)
    assert said.status == "bot_wall"
    assert f"HTTP {status}" in (said.error or "")


def test_headers_of_an_honest_answer_are_no_signal() -> None:
    headers = {"server": "cloudflare", "cf-ray": "9", "x-iinfo": "1", "x-datadome": "protected"}
    assert find_signals(NOTHING, headers=headers) == ()
    assert decide_wall(find_signals(NOTHING, http_status=403, headers=headers)) == "bot_wall"


@given(st.text(max_size=300), st.none() | st.text(max_size=60), st.text(max_size=60))
def test_any_text_has_a_status_and_signals_in_order(text: str, title: str | None, url: str) -> None:
    status, signals = classify_text(url, title, text)
    assert (status, signals) == classify_text(url, title, text)
    assert len(signals) == len(set(signals))


@given(st.text(alphabet=st.characters(categories=["L"]), min_size=200, max_size=400))
def test_letters_alone_are_never_a_wall(text: str) -> None:
    assert classify_text("", "Astrolabe", text)[0] == "ok"
