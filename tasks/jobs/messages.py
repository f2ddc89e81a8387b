"""Messages about jobs that brought no report."""

from collections.abc import Sequence

from tasks.warehouse.jobs import Job


def describe_lost(job: Job) -> str:
    """Describe a job whose request was sent but whose answer was lost."""
    return (
        "sent, but the answer was lost: it may have been paid for. Look for it at the "
        f"provider; then `evergreen agents jobs {job.job} --remote-id ID` if it is there, or "
        f"`evergreen agents jobs {job.job} --ask-again`."
    )


def describe_unreadable(job: Job) -> str:
    """Describe a job whose answers could not be read, whose request is therefore not repeated."""
    return (
        f"its answers cannot be read: {job.error}. It may have been paid for. Mend the agent, then "
        f"{suggest_ask_again(job)}"
    )


def describe_overdue(job: Job) -> str:
    """Describe a job that missed its deadline."""
    return (
        f"it has not ended in time (last status {job.remote_word!r}); every run checks it once "
        f"more; {suggest_ask_again(job)}"
    )


def suggest_ask_again(job: Job) -> str:
    """Say how to request a job again, unless it may be there by now."""
    if job.may_appear:
        return "the next run looks again, which buys nothing"
    return f"`evergreen agents jobs {job.job} --ask-again` requests it again"


def describe_leak(variables: Sequence[str]) -> str:
    """Describe a report that holds keys of ours."""
    return (
        f"its answer holds the value of {', '.join(variables)}, so it was set aside, with the keys "
        "taken out. Whoever wrote it could read them: replace them"
    )
