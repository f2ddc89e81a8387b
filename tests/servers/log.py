"""What a server was asked and what it gave: the other side's account of a run."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from tests.servers.asked import Asked, File

Outcome = Literal["under way", "answered", "lost", "refused"]
"""`answered`: a model's answer went out whole, blocked and cut ones among them. `lost`: the
model had worked, but its answer did not arrive (a reset, or the client was gone): a real
provider may bill it. `refused`: a status of 400 and more, or no model's answer at all."""


@dataclass(slots=True)
class Entry:
    """One question that arrived."""

    prompt_id: str
    question_id: str
    model: str
    status: int
    fault: str | None
    delivery: Literal["live", "batch"]
    outcome: Outcome = "under way"
    files: tuple[File, ...] = ()


class RequestLog:
    """Every question since the server was made, in the order in which they came."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.in_flight = 0
        self.peak_in_flight = 0

    def begun(self, asked: Asked, status: int, fault: str | None) -> Entry:
        """A live question is worked on; `ended` must follow."""
        entry = self._entry(asked, status, fault, "live")
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        return entry

    def ended(self, entry: Entry, outcome: Outcome) -> None:
        self.in_flight -= 1
        entry.outcome = outcome

    def batched(self, asked: Asked, status: int, fault: str | None) -> None:
        """A question of a batch was answered, or failed."""
        entry = self._entry(asked, status, fault, "batch")
        entry.outcome = "answered" if status == 200 else "refused"

    def answered(self) -> Counter[str]:
        """Answers per question: a value above 1 was bought more than once."""
        return Counter(e.question_id for e in self.entries if e.outcome == "answered")

    @property
    def n_bought_again(self) -> int:
        """Answers beyond the first to the same question."""
        return sum(n - 1 for n in self.answered().values())

    def summary(self) -> dict[str, Any]:
        """Totals as JSON."""
        outcomes = Counter(entry.outcome for entry in self.entries)
        return {
            "requests": len(self.entries),
            "prompts": len({entry.prompt_id for entry in self.entries}),
            "questions": len({entry.question_id for entry in self.entries}),
            "answered": outcomes["answered"],
            "lost": outcomes["lost"],
            "refused": outcomes["refused"],
            "under_way": outcomes["under way"],
            "bought_again": self.n_bought_again,
            "peak_in_flight": self.peak_in_flight,
            "statuses": dict(Counter(str(entry.status) for entry in self.entries)),
            "faults": dict(Counter(entry.fault for entry in self.entries if entry.fault)),
        }

    def _entry(
        self, asked: Asked, status: int, fault: str | None, delivery: Literal["live", "batch"]
    ) -> Entry:
        entry = Entry(
            asked.prompt_id, asked.question_id, asked.model, status, fault, delivery,
            files=asked.files,
        )  # fmt: skip
        self.entries.append(entry)
        return entry
