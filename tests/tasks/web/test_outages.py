"""A dead network must not become a thousand dead pages."""

import socket
from collections.abc import Awaitable, Callable

import pytest

from tasks.web.errors import NoNetwork
from tests.servers.web_pages import KEEP, answer, serving_pages
from tests.tasks.web.fetched import LOOPBACK, fetch, fetch_beside_an_answer, web_settings


def names(*known: str) -> Callable[[str, int], Awaitable[list[str]]]:
    """A name server that knows these names only."""

    async def lookup(host: str, port: int) -> list[str]:
        if host in known:
            return [LOOPBACK]
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    return lookup


def gone(count: int) -> list[str]:
    return [f"http://gone{number}.example.org/" for number in range(count)]


@pytest.mark.parametrize("count", [1, 3, 9, 40])
def test_a_run_without_a_network_stops_and_no_page_is_handed_on(count: int) -> None:
    outcome = fetch(gone(count), web_settings(), lookup=names())
    assert isinstance(outcome.error, NoNetwork)
    assert "No host could be reached" in str(outcome.error)
    assert "Temporary failure in name resolution" in str(outcome.error)
    assert outcome.fetched == {}


def test_a_connection_without_an_answer_is_no_proof_of_a_network() -> None:
    with serving_pages(lambda asked: []) as site:
        outcome = fetch([site.url()], web_settings([site.place]))
        assert site.asked
        assert isinstance(outcome.error, NoNetwork)
        assert outcome.fetched == {}


@pytest.mark.parametrize("count", [1, 9])
def test_pages_that_cannot_be_reached_are_so_while_another_host_answers(count: int) -> None:
    outcome = fetch_beside_an_answer(gone(count), web_settings(), lookup=names())
    assert outcome.error is None
    assert [fetched.is_unreached for fetched in outcome.fetched.values()] == [True] * count


def test_many_dead_hosts_are_dead_while_one_that_answered_still_does() -> None:
    # Its answer takes longer than it takes to learn that thirty names do not exist.
    with serving_pages(lambda asked: [0.5, answer(b"page"), KEEP]) as site:
        alive = f"http://alive.example.org:{site.port}/"
        settings = web_settings([f"alive.example.org:{site.port}"])
        outcome = fetch([alive, *gone(30)], settings, lookup=names("alive.example.org"))
        assert outcome.error is None
        assert len(outcome.fetched) == 31


def test_a_network_that_dies_in_the_middle_stops_the_run() -> None:
    with serving_pages(lambda asked: [answer(b"page")]) as site:
        alive = [f"http://alive{number}.example.org:{site.port}/" for number in range(3)]

        async def cut_off(host: str, port: int) -> list[str]:
            if len(site.asked) >= 3:
                raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
            return [LOOPBACK]

        more = [f"http://later{number}.example.org:{site.port}/" for number in range(20)]
        settings = web_settings(
            [url[7:-1] for url in alive + more], manners={"at_once": 1, "tries": 1}
        )
        outcome = fetch(alive + more, settings, lookup=cut_off)
        assert isinstance(outcome.error, NoNetwork)
        assert {fetched.outcome for fetched in outcome.fetched.values()} == {"fetched"}
        assert len(outcome.fetched) == 3


def test_a_server_that_answered_before_may_be_dead_itself() -> None:
    with serving_pages(lambda asked: [answer(b"page"), KEEP]) as site:
        settings = web_settings([site.place])
        before = ["http://gone.example.org/", site.url()]
        outcome = fetch(gone(1), settings, lookup=names(), answered_before=before)
        assert outcome.error is None
        assert [fetched.is_unreached for fetched in outcome.fetched.values()] == [True]


def test_a_network_whose_dns_leads_every_name_to_itself_refuses_no_page() -> None:
    async def own_page(host: str, port: int) -> list[str]:
        return ["192.168.1.1"]

    outcome = fetch(gone(3), web_settings(), lookup=own_page)
    assert isinstance(outcome.error, NoNetwork)
    assert ".example.org is 192.168.1.1" in str(outcome.error)
    assert outcome.fetched == {}
    outcome = fetch_beside_an_answer(gone(3), web_settings(), lookup=own_page)
    assert {fetched.outcome for fetched in outcome.fetched.values()} == {"refused"}


def test_a_body_that_is_cut_off_is_no_proof_of_a_network() -> None:
    with serving_pages(lambda asked: [answer(b"page")[:-2]]) as site:
        outcome = fetch([site.url(), *gone(1)], web_settings([site.place]), lookup=names())
        assert isinstance(outcome.error, NoNetwork)
        assert outcome.fetched == {}
        outcome = fetch_beside_an_answer([site.url()], web_settings([site.place]))
        assert [fetched.is_unreached for fetched in outcome.fetched.values()] == [True]


def test_the_dead_rest_of_a_run_is_told_from_a_dead_network_by_who_answered_before() -> None:
    with serving_pages(lambda asked: [answer(b"page"), KEEP]) as site:
        place = f"alive.example.org:{site.port}"
        before = f"http://{place}/earlier"
        settings = web_settings([place])
        known = names("alive.example.org")
        outcome = fetch(gone(25), settings, lookup=known, answered_before=[before])
        assert outcome.error is None
        assert len(outcome.fetched) == 25
        outcome = fetch(gone(25), settings, lookup=names(), answered_before=[before])
        assert isinstance(outcome.error, NoNetwork)
        assert outcome.fetched == {}


def test_a_status_that_does_not_exist_is_a_refusal_and_asked_for_once() -> None:
    with serving_pages(lambda asked: [answer(b"<html></html>", 999), KEEP]) as site:
        fetched = fetch([site.url()], web_settings([site.place])).fetched[site.url()]
        assert (fetched.outcome, fetched.http_status, fetched.tries) == ("fetched", 999, 1)
        assert not fetched.is_temporary_error
