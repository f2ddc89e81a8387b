from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError
from yarl import URL

from tasks.configuration.web import AllowedAddresses
from tasks.web.errors import AddressRefused
from tasks.web.guard import Guard, describe_non_public
from tests.tasks.web.hostile import HOSTILE, NO_ADDRESSES

GUARD = Guard(AllowedAddresses())


@pytest.mark.parametrize(("url", "why"), HOSTILE + NO_ADDRESSES)
def test_an_address_that_may_lead_elsewhere_is_refused(url: str, why: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        GUARD.check_url(url)
    said = str(refused.value)
    assert said.isprintable()
    assert 10 < len(said) < 500


ASKED = {
    "http://example.com": "http://example.com/",
    "HTTP://Example.COM:80/A": "http://example.com/A",
    "https://example.com:443/": "https://example.com/",
    "https://example.com:80/": "https://example.com:80/",
    "http://example.com./a": "http://example.com/a",
    "http://user:secret@example.com/a#part": "http://example.com/a",
    "http://user@evil.org:secret@example.com/": "http://example.com/",
    "http://example.com?q=1": "http://example.com/?q=1",
    "http://example.com#@127.0.0.1/": "http://example.com/",
    "http://example.com/?@127.0.0.1/": "http://example.com/?@127.0.0.1/",
    "http://example.com/%2e%2E/%7Ea?b=%2F&c=a+b": "http://example.com/%2e%2E/%7Ea?b=%2F&c=a+b",
    "http://example.com/100%": "http://example.com/100%",
    "http://example.com/Zürich?ü=<é>": "http://example.com/Z%C3%BCrich?%C3%BC=%3C%C3%A9%3E",
    "https://bücher.example.com/": "https://xn--bcher-kva.example.com/",
    "https://例え.jp/": "https://xn--r8jz45g.jp/",
    "http://under_score.example.com/": "http://under_score.example.com/",
    "http://8.8.8.8/": "http://8.8.8.8/",
    "http://134744072/": "http://8.8.8.8/",
    "http://0x8.0x8.010.8/": "http://8.8.8.8/",
    "http://[2606:4700:0:0::1111]:443/": "http://[2606:4700::1111]:443/",
    "http://[64:ff9b::808:808]/": "http://[64:ff9b::808:808]/",
}


@pytest.mark.parametrize("url", ASKED)
def test_an_address_is_asked_as_it_was_read(url: str) -> None:
    assert GUARD.check_url(url).url == ASKED[url]


def test_what_was_read_is_what_every_other_reader_reads() -> None:
    for url in ASKED:
        target = GUARD.check_url(url)
        sent = URL(target.url, encoded=True)
        assert (sent.raw_host, sent.port) == (target.host, target.port)
        assert urlsplit(target.url).hostname == target.host
        assert GUARD.check_url(target.url) == target


def test_a_test_host_is_a_deliberate_exception_on_its_port_only() -> None:
    guard = Guard(AllowedAddresses(hosts=("127.0.0.1:8000", "Printer", "[::1]:9000")))
    assert guard.check_url("http://127.0.0.1:8000/a").port == 8000
    assert guard.check_url("http://printer/").host == "printer"
    assert guard.check_url("http://[::1]:9000/").url == "http://[::1]:9000/"
    for url in ("http://127.0.0.1/", "http://127.0.0.1:8001/", "http://127.0.0.2:8000/",
                "http://[::1]:9001/", "http://scanner/", "http://printer:631/"):  # fmt: skip
        with pytest.raises(AddressRefused):
            guard.check_url(url)


@pytest.mark.parametrize(
    "entry", ["http://127.0.0.1:8765/", "127.0.0.1:99999", "*", "10.0.0.0/8", "", "a b", "u@host"]
)
def test_an_exception_that_names_no_host_is_told_when_the_settings_are_read(entry: str) -> None:
    with pytest.raises(ValidationError):
        AllowedAddresses(hosts=(entry,))


def test_more_ports_may_be_asked_by_configuration() -> None:
    guard = Guard(AllowedAddresses(ports=(80, 443, 8080)))
    assert guard.check_url("http://example.com:8080/").port == 8080
    with pytest.raises(AddressRefused, match=r"on port 8081; only 80, 443, 8080 are asked"):
        guard.check_url("http://example.com:8081/")


def test_a_name_that_leads_to_a_private_address_is_refused_unless_it_is_an_exception() -> None:
    guard = Guard(
        AllowedAddresses(hosts=("test.example.com:80",)), frozenset({"proxy.example.com:3128"})
    )
    with pytest.raises(AddressRefused, match=r"www.example.com is 10\.0\.0\.1, a private address"):
        guard.check_address("www.example.com", 80, "10.0.0.1")
    guard.check_address("www.example.com", 80, "8.8.8.8")
    guard.check_address("test.example.com", 80, "10.0.0.1")
    guard.check_address("proxy.example.com", 3128, "10.0.0.1")
    with pytest.raises(AddressRefused):  # it is a page's address here, not the proxy's
        guard.check_address("proxy.example.com", 3128, "10.0.0.1", proxied=True)


def test_the_proxy_itself_is_no_page_whatever_its_name_and_port() -> None:
    guard = Guard(AllowedAddresses(ports=(80, 3128)), frozenset({"proxy.example.com:3128"}))
    with pytest.raises(AddressRefused, match="is the proxy that stands between us and the web"):
        guard.check_url("http://proxy.example.com:3128/admin")
    assert guard.check_url("http://proxy.example.com/").port == 80


URLISH = st.text(st.sampled_from("htps:/@.[]%?#\\ 0123456789xaf-_éⓛ。\t\x00"), max_size=60)


@given(
    st.one_of(st.text(), URLISH, URLISH.map(lambda rest: f"http://{rest}"),
              st.ip_addresses().map(lambda ip: f"http://[{ip}]/" if ip.version == 6 else f"http://{ip}/"),
              st.integers(0, 2**33).map(lambda number: f"http://{number}/"))
)  # fmt: skip
@example("http://[::1]%2f@example.com/")
@example("http://\ud800.com/\udfff?\ud800")
def test_any_text_gets_a_verdict_and_a_literal_that_is_allowed_is_public(url: str) -> None:
    try:
        target = GUARD.check_url(url)
    except AddressRefused:
        return
    assert target.url.isascii()
    assert not set(target.url) & set("\r\n\t \\")
    assert target.port in (80, 443)
    read = URL(target.url, encoded=True)
    assert (read.raw_host, read.port) == (target.host, target.port)
    try:
        address = ip_address(target.host)
    except ValueError:
        assert "." in target.host
    else:
        assert address.is_global
        assert GUARD.may_connect(target.host, target.port)


@given(st.ip_addresses())
def test_an_address_that_may_be_connected_to_is_global(address: object) -> None:
    if describe_non_public(str(address)) is None:
        assert ip_address(str(address)).is_global
        assert not ip_address(str(address)).is_multicast


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_an_ipv6_address_is_judged_too(address: object) -> None:
    inside = int(ip_address(str(address)))
    if describe_non_public(str(address)) is not None:
        for outside in (0x0064_FF9B << 96, (0x2606_4700 << 96) | (0x5EFE << 32)):
            assert describe_non_public(str(IPv6Address(outside | inside)))
    for outside in (0, 0xFFFF << 32, 0xFFFF << 48):  # compatible, mapped, translated
        assert describe_non_public(str(IPv6Address(outside | inside)))
