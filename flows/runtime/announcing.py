"""Events of our own in Prefect's history, which alerts are made of (`flows.alerts`)."""

from typing import Literal

from prefect.events import emit_event

Announcement = Literal["over_budget", "judge_retiring", "published"]


def announce(what: Announcement, subject: str) -> None:
    """Say that a budget is spent, a judge or agent ends soon, or an edition is published.

    subject: the edition, or what ends. An alert quotes it, so it is nothing that an agent or a
        page wrote.
    """
    about = {"prefect.resource.id": f"evergreen.{what}.{subject}", "prefect.resource.name": subject}
    emit_event(f"evergreen.{what}", resource=about)
