"""What people are told of a job that brought no report, and what they can do."""

from tasks.warehouse.jobs import Job


def lost_words(job: Job) -> str:
    """Sent, and nobody knows what became of it."""
    return (
        f"sent, but the answer was lost: nobody here knows whether it was bought. Look for it at "
        f"the provider; then `evergreen agents jobs {job.job} --remote-id ID` if it is there, or "
        f"`evergreen agents jobs {job.job} --ask-again`."
    )


def overdue_words(job: Job) -> str:
    """Not ended at its deadline."""
    return (
        f"it has not ended in time (last seen {job.remote_word!r}); every run looks once more; "
        f"{again_words(job)}"
    )


def again_words(job: Job) -> str:
    """How to have it asked anew."""
    return f"`evergreen agents jobs {job.job} --ask-again` has it asked anew"
