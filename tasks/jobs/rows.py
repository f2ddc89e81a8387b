"""A job's row before it is sent, and the question that it asks."""

from collections.abc import Sequence
from uuid import uuid4

from tasks.agents.agent import Question, Turn
from tasks.agents.kinds import read_answer
from tasks.pending.reports import Unreported
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import content_sha


def intention(item: Unreported, kind: str, reply: str | None = None) -> Job:
    """A job that has not been sent: with the assignment's prompt, or as a second turn the reply to
    the agent's question."""
    return Job(
        job=f"evergreen-{uuid4().hex[:16]}",
        edition=item.edition,
        agent=item.agent,
        assignment=item.assignment,
        attempt=item.attempt,
        turn=1 if reply is None else 2,
        kind=kind,
        parameters="{}",  # said when it is sent
        prompt=item.prompt if reply is None else reply,
        prompt_sha=item.prompt_sha if reply is None else content_sha(reply),
        state="refused",  # until the request is about to leave: nothing has been bought
    )


def question_of(item: Unreported, job: Job, earlier: Sequence[Job]) -> Question:
    """What an agent is asked.

    earlier: the jobs of the turns before, with their answers.
    """
    turns: list[Turn] = []
    for before in earlier:
        said = read_answer(before.kind, before.answer or "").text
        turns += [Turn(role="user", text=before.prompt), Turn(role="agent", text=said)]
    return Question(
        job=job.job,
        edition=item.edition,
        assignment=item.assignment,
        title=item.title,
        kind=item.kind,
        query=item.query,
        prompt=job.prompt,
        banned=item.banned,
        earlier=tuple(turns),
        earlier_id=earlier[-1].remote_id if earlier else None,
    )
