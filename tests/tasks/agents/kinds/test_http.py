"""Services of one's own."""

import pytest

from tasks.agents.agent import Gone, JobStatus, UnreadableJobAnswer
from tasks.agents.kinds.http import read
from tasks.agents.registry import read_answer
from tasks.models.errors import Misconfigured, TransientError
from tests.servers.agent_service import ServiceServer
from tests.servers.http import Response
from tests.servers.serving import serving
from tests.tasks.agents.conversations import SAID, check, question, start, using

PATH = "/reports"


class Odd(ServiceServer):
    """Says this when a job is made."""

    def __init__(self, said: bytes) -> None:
        super().__init__()
        self._said = said

    def answer(self, body: object) -> Response:
        return Response(200, self._said)


def looked(server: ServiceServer, times: int) -> tuple[JobStatus, list[JobStatus]]:
    """A job begun, and looked at so often."""
    with serving(server) as address:
        first = using("http", address + PATH, lambda c: c.start(question()))
        seen = [
            using("http", address + PATH, lambda c: c.poll(first.remote_id)) for _ in range(times)
        ]
    return first, seen


def test_a_job_is_waited_for_through_states_nobody_knows() -> None:
    server = ServiceServer("A report.", given={"cost_usd": 0.5})
    begun, seen = looked(server, 3)
    assert (begun.remote_id, begun.ended) == ("jöb/job-1?", False)
    assert [one.remote_state for one in seen] == ["queued", "what is this", "done"]
    assert [one.ended for one in seen] == [False, False, True]
    assert seen[0].raw is None
    answer = read_answer("http", seen[2].raw or "")
    assert (answer.text, answer.cost_usd) == ("A report.", 0.5)
    assert server.bought == 1


def test_the_service_is_told_what_it_needs_and_the_name_of_the_job() -> None:
    server = ServiceServer(at_once=True)
    asked = question("Decide yourself.", history=SAID, banned=("https://en.wikipedia.org/wiki/X",))
    start("http", server, asked, path=PATH)
    assert server.headers[0]["idempotency-key"] == "job-1"
    assert server.headers[0]["authorization"] == "Bearer test-key"
    assert server.asked == [{
        "job": "job-1", "edition": "e", "assignment": "a1", "title": "The Straße",
        "kind": "write_article", "query": None, "prompt": "Decide yourself.",
        "banned": ["https://en.wikipedia.org/wiki/X"],
        "conversation": [
            {"role": "user", "text": "Write about the town."},
            {"role": "agent", "text": "Which decades?"},
        ],
    }]  # fmt: skip


def test_a_failed_job_says_why() -> None:
    _, seen = looked(ServiceServer("half", states=["failed"], given={"error": "no disk"}), 1)
    answer = read_answer("http", seen[0].raw or "")
    assert (answer.outcome, answer.text, answer.error) == ("failed", "half", "no disk")
    assert read('{"state": "failed"}').error == "the service reports `failed` without a reason"
    assert read('{"state": "failed", "report": "x", "error": null}').outcome == "failed"


def test_a_job_that_expired_is_gone() -> None:
    server = ServiceServer()
    server.expired = {"jöb/job-1?"}
    with pytest.raises(Gone):
        looked(server, 1)


@pytest.mark.parametrize(
    "said",
    [b"{}", b'{"state": "running"}', b'{"job_id": ""}', b'{"job_id": ["x"]}', b'{"job_id": -1}',
     b'{"state": ["done"]}', b'"done"', b'{"job_id": "' + b"x" * 5000 + b'"}'],
)  # fmt: skip
def test_an_answer_without_a_job_and_without_an_end_is_perhaps_billed(said: bytes) -> None:
    with pytest.raises(TransientError) as caught:
        start("http", Odd(said), path=PATH)
    assert caught.value.maybe_billed


def test_a_number_will_do_as_a_jobs_name() -> None:
    assert start("http", Odd(b'{"job_id": 17}'), path=PATH).remote_id == "17"


def test_a_check_takes_any_answer_but_a_fault() -> None:
    assert "answers and did not refuse the key" in check("http", ServiceServer(), path="/anything")

    takes_post_alone, broken = (lambda _, s=status: Response(s) for status in (501, 500))
    assert "answers and did not refuse the key" in check("http", takes_post_alone, path=PATH)
    with pytest.raises(Misconfigured, match="answers with an error"):
        check("http", broken, path=PATH)


def test_the_address_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(ServiceServer("A report.", at_once=True)) as address:
        monkeypatch.setenv("MY_SERVICE", f"{address}{PATH}/")
        seen = using(
            "http", "http://127.0.0.1:9", lambda c: c.start(question()), url_env="MY_SERVICE"
        )
    assert seen.ended


def test_a_form_that_is_wrong_is_named_by_its_field() -> None:
    with pytest.raises(UnreadableJobAnswer, match=r"usage\.searches"):
        read('{"state": "done", "report": "x", "usage": {"searches": "many"}}')
