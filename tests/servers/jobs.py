"""Servers of reports: a POST makes a job, looking at it moves it on to the end that is planned.

What all providers' servers have in common; `job_gemini`, `job_openai` and
`job_perplexity` know the forms. They count: a conversation for which two jobs were made is
a report bought twice.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar

from tests.servers.faults import HTML_PAGE, STATUSES
from tests.servers.http import HTML, Break, Request, Response, json_response
from tests.servers.job_reports import Indexes, Report, default_report

MADE: dict[str, Break | None] = {
    "lost": "reset",
    "lost_mid_body": "reset_mid_body",
    "lost_half_body": "half_body",
    "lost_stall": "stall_mid_body",
    "lost_bad_gzip": "bad_gzip",
    "lost_cut_gzip": "cut_gzip",
    "lost_unknown_encoding": "unknown_encoding",
    "made_500": None,
    "made_no_id": None,
}
"""Faults of a POST whose job is made all the same; the reply is lost, or does not name it."""
BREAKS: tuple[Break, ...] = ("reset", "bad_gzip", "cut_gzip", "unknown_encoding")
"""Of an answer that names no job."""
PLAIN = {
    "rejected_400": (400, "The request is malformed."),
    "rejected_422": (422, "A field has a value that is not allowed."),
    "forbidden_403": (403, "The key may not do this."),
    "not_found_404": (404, "There is nothing of that name."),
}
FAULTS = frozenset(
    {*MADE, *PLAIN, *STATUSES, *BREAKS, "redirect_307", "html_200", "empty_200", "list_200"}
)
"""What may be planned for a POST or a look; those of MADE for a POST only."""


@dataclass(frozen=True)
class JobScript:
    """How a server's jobs go."""

    polls: int = 1
    """Looks until a job has ended; 0: it has in the very answer that names it."""
    ends: str | None = None
    """The provider's word for its end; None: its word for "all is well"."""
    on_the_way: tuple[str, ...] | None = None
    """Its words before that, one a look, the last one for as long as it takes; None: the
    provider's usual ones."""
    posts: tuple[str | None, ...] = ()
    """What goes wrong with a conversation's first POSTs, its second one, …"""
    looks: tuple[str | None, ...] = ()
    """What goes wrong with the looks at a job."""
    gone_after: int | None = None
    """Looks after which a job is not found any more."""
    asks_first: str | None = None
    """A question that a conversation of one turn is answered with, in place of a report."""
    asks_with: str | None = None
    """The word for the end of such a job; None: as if all were well."""
    indexes: Indexes = "right"
    hint_seconds: float = 1.0
    """What a 429 asks to wait, where it has a hint."""

    def __post_init__(self) -> None:
        unknown = {f for f in (*self.posts, *self.looks) if f} - FAULTS
        if unknown:
            raise ValueError(f"no such fault: {', '.join(sorted(unknown))}; see FAULTS")


@dataclass
class Job:
    """One report that was bought."""

    job_id: str
    conversation: tuple[str, ...]
    """What the user said, first turn first."""
    name: str | None
    """What the client calls it, where the interface takes a name along."""
    body: dict[str, Any]
    """The request that made it."""
    model: str
    origin: str
    """The server's address, as the client knows it."""
    looks: int = 0


class JobServer(ABC):
    """A fake provider; itself the handler that `serving` runs. Its state outlives a restart."""

    path: ClassVar[str]
    """Where jobs are made; `path/ID` is one of them. A regular expression."""
    well: ClassVar[str]
    under_way: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        script: JobScript | None = None,
        *,
        report: Report | str = default_report,
        key: str | None = "test-key",
        models: Collection[str] | None = None,
    ) -> None:
        """Set up what does not change while it serves.

        Args:
            script: how its jobs go; well, if not given.
            report: what it writes, or a function from the prompt to that; see `job_reports`.
            key: the only key that is taken; None takes any and none.
            models: names that exist; None: every name does.
        """
        self.script = script or JobScript()
        self.jobs: dict[str, Job] = {}
        """By id; what a test takes out is gone for the client too."""
        self.n_made = 0
        self.n_looks = 0
        """POSTs that were answered with a job that was there already."""
        self.requests: list[Request] = []
        self._report = report
        self._key = key
        self._models = models
        self._posts: Counter[tuple[str, ...]] = Counter()
        self._made: Counter[tuple[str, ...]] = Counter()

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        try:
            return self._answer(request)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return self.error(400, f"Invalid request: {type(error).__name__}: {error}")

    @property
    def n_bought_again(self) -> int:
        """Jobs beyond the first for the same conversation."""
        return sum(n - 1 for n in self._made.values())

    @abstractmethod
    def error(self, status: int, message: str, **more: Any) -> Response:
        """A refusal in the provider's form."""

    @abstractmethod
    def refusal(self, fault: str) -> Response:
        """The provider's form of one of the `STATUSES` faults."""

    @abstractmethod
    def wrong_key(self, request: Request) -> Response | None:
        """A refusal, where the request has another key than ours."""

    @abstractmethod
    def asked(self, body: dict[str, Any]) -> tuple[str, tuple[str, ...], str | None]:
        """Model, conversation and name of a request.

        Raises:
            ValueError, KeyError, TypeError: it is none that the provider would take.
        """

    @abstractmethod
    def form(self, job: Job, word: str, text: str | None) -> dict[str, Any]:
        """The provider's form of a job; `text`: what it wrote, None while it is at it."""

    def other(self, request: Request) -> Response | None:
        """The answer to what is neither a POST of a job nor a look at one."""
        return None

    def exists(self, model: str) -> bool:
        return self._models is None or model in self._models

    def text_of(self, job: Job) -> str:
        if self.script.asks_first is not None and len(job.conversation) == 1:
            return self.script.asks_first
        return self._report if isinstance(self._report, str) else self._report(job.conversation[0])

    def _answer(self, request: Request) -> Response:
        if self._key is not None and (refused := self.wrong_key(request)):
            return refused
        if found := re.fullmatch(f"{self.path}(/.+)?", request.path):
            last = found[found.re.groups]
            if request.method == "POST" and last is None:
                return self._create(request)
            if request.method == "GET" and last is not None:
                return self._look(last[1:])
        return self.other(request) or self.error(404, f"No {request.method} {request.path}")

    def _create(self, request: Request) -> Response:
        body = request.json()
        model, conversation, name = self.asked(body)
        if not self.exists(model):
            return self.error(404, f"The model {model} does not exist.")
        fault = _planned(self.script.posts, self._posts[conversation])
        self._posts[conversation] += 1
        if fault and fault not in MADE:
            return self._faulty(fault)
        origin = f"http://{request.headers.get('host', '127.0.0.1')}"
        # As Google's end: what an address must not hold as it stands is in it.
        job_id = f"job_{self.n_made + 1}_{_short(repr(conversation))}/+=="
        job = Job(job_id, conversation, name, body, model, origin)
        self.jobs[job_id] = job
        self.n_made += 1
        self._made[conversation] += 1
        if fault == "made_500":
            return self.error(500, "An internal error has occurred.")
        answer = self._state(job)
        if fault == "made_no_id":
            del answer["id"]
        return json_response(answer, broken=MADE[fault] if fault else None)

    def _look(self, job_id: str) -> Response:
        job = self.jobs.get(job_id)
        if job is None:
            return self.error(404, f"There is no job {job_id}.")
        fault = _planned(self.script.looks, job.looks)
        job.looks += 1
        self.n_looks += 1
        if self.script.gone_after is not None and job.looks > self.script.gone_after:
            return self.error(404, f"There is no job {job_id}.")
        return self._faulty(fault) if fault else json_response(self._state(job))

    def _state(self, job: Job) -> dict[str, Any]:
        script = self.script
        if job.looks >= script.polls:
            asks = script.asks_first is not None and len(job.conversation) == 1
            word = (script.asks_with if asks else script.ends) or self.well
            return self.form(job, word, self.text_of(job))
        words = self.under_way if script.on_the_way is None else script.on_the_way
        return self.form(job, words[min(job.looks, len(words) - 1)], None)

    def _faulty(self, fault: str) -> Response:
        """An answer that brings nothing."""
        if fault in BREAKS:
            return json_response({"status": self.well}, broken=fault)
        if fault in ("html_200", "html_502"):
            return Response(STATUSES.get(fault, 200), HTML_PAGE, HTML)
        if fault == "empty_200":
            return Response()
        if fault == "list_200":
            return json_response([{"id": "nobody", "status": self.well}])
        if fault == "redirect_307":
            return Response(307, headers=(("Location", "http://127.0.0.1:9/elsewhere"),))
        if fault in PLAIN:
            return self.error(*PLAIN[fault])
        return self.refusal(fault)


def _planned(faults: tuple[str | None, ...], index: int) -> str | None:
    return faults[index] if index < len(faults) else None


def _short(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
