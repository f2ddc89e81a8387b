"""The page key: two ways of writing an address meet, and a key's key is itself."""

from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks.extraction.urls import clean_url, earlier_key, is_same_page, normalise_url

ANT = "https://en.wikipedia.org/wiki/Parasitic_ant"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://en.wikipedia.org/wiki/Parasitic_ant", ANT),
        ("HTTPS://EN.Wikipedia.ORG/wiki/Parasitic_ant", ANT),
        ("https://en.wikipedia.org:443/wiki/Parasitic_ant/", ANT),
        ("https://en.m.wikipedia.org/wiki/Parasitic_ant#Life_cycle", ANT),
        ("https://en.wikipedia.org/wiki/Parasitic\\_ant", ANT),
        ("https://en.wikipedia.org/wiki/Parasitic%5Fant", ANT),
        ("<https://en.wikipedia.org/wiki/Parasitic_ant>.", ANT),
        ("https://en.wikipedia.org/wiki/Parasitic_ant?utm_source=chatgpt.com&fbclid=1", ANT),
        ("https://en.wikipedia.org/wiki/Parasitic_ant)", ANT),
        # Percent encoding has one form, whatever was encoded.
        ("https://a.org/wiki/Caf%c3%a9_%28song%29", "https://a.org/wiki/Caf%C3%A9_(song)"),
        ("https://a.org/wiki/Café_(song)", "https://a.org/wiki/Caf%C3%A9_(song)"),
        # Parameters that name the page stay, in one order.
        ("https://a.org/x?b=2&a=1&amp;gclid=z", "https://a.org/x?a=1&b=2"),
        # A title may end with an exclamation mark or a bracket.
        ("https://en.wikipedia.org/wiki/Dungka!", "https://en.wikipedia.org/wiki/Dungka!"),
        ("https://a.org/Cow_(Mario)", "https://a.org/Cow_(Mario)"),
        ("https://www.a.org/x", "https://a.org/x"),
        ("https://m.a.org/x", "https://a.org/x"),
        ("https://m.co/x", "https://m.co/x"),
    ],
)
def test_ways_of_writing_one_address_meet(url: str, key: str) -> None:
    assert normalise_url(url) == normalise_url(key) == key


@pytest.mark.parametrize(
    "text",
    ["", "ref_3", "ftp://a.org/x", "https://", "https://x", "mailto:a@b.c", "https://a b.org"],
)
def test_what_is_no_web_address_has_no_key(text: str) -> None:
    assert normalise_url(text) is None


@settings(deadline=None)
@given(
    st.builds(
        lambda before, tail: before + tail,
        st.sampled_from(
            [
                "https://a.org/",
                "https://google.com/url?q=",
                "https://12ft.io/",
                "https://urldefense.com/v3/__https://",
                "https://href.li/?https:",
                "",
            ]
        ),
        st.text(max_size=60) | st.text("htps:/.%2Fa_*;=&?q", max_size=60),
    )
)
@example("https://a.org/a./")
@example("https://a.org/a%29%2E/%2E?")
@example("https://m.www.a.org/%2525")
@example("https://a.org/?q=%FF&q=%2E")
def test_a_key_is_its_own_key_and_nothing_raises(url: str) -> None:
    key = normalise_url(url)
    assert key is None or normalise_url(key) == key
    assert not is_same_page(url, ANT)


@pytest.mark.parametrize(
    "cited",
    [
        "https://en.m.wikipedia.org/wiki/Caf%C3%A9_ant?action=history",
        "https://en.wikipedia.org/w/index.php?title=Café ant",
        "https://en.wikipedia.org/?title=Caf%C3%A9_ant",
        "http://en.wikipedia.org/wiki/café%20ant#History",
    ],
)
def test_an_article_is_recognised_however_it_is_cited(cited: str) -> None:
    assert is_same_page(cited, "https://en.wikipedia.org/wiki/Café_ant")


def test_other_pages_and_other_languages_are_other_pages() -> None:
    assert not is_same_page("https://en.wikipedia.org/wiki/Talk:Parasitic_ant", ANT)
    assert not is_same_page("https://de.wikipedia.org/wiki/Parasitic_ant", ANT)
    assert not is_same_page("no address", "no address either")


WRAPPED = [
    "https://www.google.com/url?sa=t&q=https%3A%2F%2Fa.org%2Fx%3Fb%3D1&ved=2",
    "https://www.google.com/amp/s/a.org/x?b=1",
    "https://www.google.co.uk/url?url=https://a.org/x%3Fb%3D1&usg=1",
    "https://www.bing.com/ck/a?!&&p=c0&u=a1aHR0cHM6Ly9hLm9yZy94P2I9MQ&ntb=1",
    "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fa.org%2Fx%3Fb%3D1&rut=1",
    "https://r.search.yahoo.com/_ylt=A.x;_y=1/RV=2/RU=https%3a%2f%2fa.org%2fx%3fb%3d1/RK=2/RS=q-",
    "https://nam02.safelinks.protection.outlook.com/?url=http%3A%2F%2Fa.org%2Fx%3Fb%3D1&data=05",
    "https://urldefense.proofpoint.com/v1/url?u=http://a.org/x%3Fb%3D1&k=1",
    "https://urldefense.proofpoint.com/v2/url?u=https-3A__a.org_x-3Fb-3D1&d=Dw",
    "https://urldefense.com/v3/__https:/a.org/x*b*1__;Pz0!!k!s$",
    "https://linkprotect.cudasvc.com/url?a=https%3a%2f%2fa.org%2fx%3fb%3d1&c=E,1",
    "https://eu.protection.sophos.com/?d=a.org&u=aHR0cHM6Ly9hLm9yZy94P2I9MQ==&i=1",
    "https://secure-web.cisco.com/1Gh-_/https%3A%2F%2Fa.org%2Fx%3Fb%3D1",
    "https://l.facebook.com/l.php?u=https%3A%2F%2Fa.org%2Fx%3Fb%3D1%26fbclid%3Dq&h=A",
    "https://www.linkedin.com/redir/redirect?url=https%3A%2F%2Fa.org%2Fx%3Fb%3D1&urlhash=x",
    "https://m.youtube.com/redirect?event=d&q=https%3A%2F%2Fa.org%2Fx%3Fb%3D1&v=1",
    "https://vk.com/away.php?to=https%3A%2F%2Fa.org%2Fx%3Fb%3D1",
    "https://steamcommunity.com/linkfilter/?u=https%3A%2F%2Fa.org%2Fx%3Fb%3D1",
    "https://link.zhihu.com/?target=https%3A//a.org/x%3Fb%3D1",
    "https://medium.com/r/?url=https%3A%2F%2Fa.org%2Fx%3Fb%3D1",
    "https://href.li/?https://a.org/x?b=1",
    # One within another, and encoded twice.
    "https://lm.facebook.com/l.php?u=https%3A%2F%2Fwww.google.de%2Furl%3Fq%3Dhttps%253A%252F%252F"
    "a.org%252Fx%253Fb%253D1",
    "https://out.reddit.com/?url=https%253A%252F%252Fa.org%252Fx%253Fb%253D1",
    # The path's encoding hides it until the key is built.
    "https://www.google.com/%75rl?q=https%3A%2F%2Fa.org%2Fx%3Fb%3D1",
]  # fmt: skip


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_a_redirect_that_carries_its_target_is_the_target(wrapped: str) -> None:
    assert normalise_url(wrapped) == "https://a.org/x?b=1"
    assert "%75rl" in wrapped or "://a.org/x?b=1" in (clean_url(wrapped) or "")
    assert earlier_key(wrapped) not in (None, "https://a.org/x?b=1")


@pytest.mark.parametrize(
    "url",
    [
        "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQ",
        "https://google.com/search?q=https%3A%2F%2Fa.org%2Fx",
        "https://google.com/url?q=mailto%3Ax%40a.org",
        "https://baidu.com/link?url=Kc9",
        "https://bing.com/ck/a?u=a1aHR0c%21%21",
        "https://notgoogle.com/url?q=https%3A%2F%2Fa.org%2Fx",
        "https://google.com.evil.example/url?q=https%3A%2F%2Fa.org%2Fx",
        "https://web.archive.org/web/2020/https://a.org/x",
        "https://r.jina.ai/https://a.org/x",
    ],
)
def test_what_carries_no_target_and_what_is_a_copy_keeps_its_own_key(url: str) -> None:
    assert normalise_url(url) == url


def test_targets_within_targets_end_somewhere() -> None:
    url = "https://a.org/x"
    for _ in range(12):
        url = f"https://google.com/url?q={quote(url, safe='')}"
    key = normalise_url(url)
    assert key is None or normalise_url(key) == key


COPIES = [
    "https://web.archive.org/web/2020*/{}",
    "http://web.archive.org/web/20200101000000id_/{}",
    "https://web.archive.org/web/{}",
    "https://web.archive.org/web/2020/en.wikipedia.org/wiki/Parasitic_ant",
    "https://archive.ph/2020.01.02-030405/{}",
    "https://archive.is/o/AbCdE/{}",
    "https://archive.today/newest/{}",
    "http://webcache.googleusercontent.com/search?q=cache:AbC123def456:{}+ants&cd=1",
    "http://webcache.googleusercontent.com/search?q=cache:en.wikipedia.org/wiki/Parasitic_ant",
    "https://r.jina.ai/{}",
    "https://txtify.it/{}",
    "https://12ft.io/proxy?q=https%3A%2F%2Fen.wikipedia.org%2Fwiki%2FParasitic_ant",
    "https://12ft.io/en.wikipedia.org/wiki/Parasitic_ant",
    "https://outline.com/{}",
    "https://en-wikipedia-org.translate.goog/wiki/Parasitic_ant?_x_tr_sl=en&_x_tr_tl=de",
    "https://translate.google.com/translate?sl=en&tl=de&u={}",
    "https://translated.turbopages.org/proxy_u/en-ru.ru.1/https/en.wikipedia.org/wiki/Parasitic_ant",
    "https://papago.naver.net/website?locale=en&url=https%3A%2F%2Fen.wikipedia.org%2Fwiki%2FParasitic_ant",
    "https://translate.yandex.com/translate?url={}&lang=en-ru",
    "https://wayback.archive-it.org/12/2020/{}",
    "https://web.archive.org/web/2020/https://www.google.com/url?q={}",
]  # fmt: skip


@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_of_the_article_is_the_article_also_by_its_key(copy: str) -> None:
    url = copy.format(ANT)
    assert is_same_page(url, ANT)
    assert is_same_page(normalise_url(url) or "", ANT)
    assert not is_same_page(url, "https://en.wikipedia.org/wiki/Honey_ant")


def test_an_article_is_no_copy_of_its_copy() -> None:
    assert not is_same_page(ANT, f"https://web.archive.org/web/2020/{ANT}")
