"""Progress: bars in the terminal, and one artifact per stage in the Prefect UI."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from uuid import UUID

import httpx
from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from flows.display.console import STDERR, print_message
from tasks.base import format_count

TITLES = {
    "absent": "Looking up lost addresses",
    "claims": "Extracting claims",
    "diagnostics": "Measuring style",
    "draft": "Drafting rubrics",
    "fetch": "Fetching pages",
    "first revisions": "Dating articles",
    "freeze": "Freezing articles",
    "invert": "Making questions",
    "key points": "Making key points",
    "measure": "Measuring articles",
    "publish": "Writing the site",
    "read": "Reading pages",
    "reports": "Getting reports",
    "scores": "Scoring",
    "verdicts": "Judging",
}
"""By stage, what it does."""
UPDATE_SECONDS = 2.0
"""How often the artifact is updated, which takes a request."""


class StageProgress:
    """Counts the finished items of one stage."""

    def __init__(self, bars: Progress, description: str, total: int | None, artifact: UUID) -> None:
        self._bars = bars
        self._bar = bars.add_task(description, total=total, doing="", time="left")
        self._total = total
        self._artifact = artifact
        self._done = 0
        self._updated = time.monotonic()
        self._update: asyncio.Task[None] | None = None

    def advance(self, items: int = 1) -> None:
        """Count finished items; to be called in the event loop."""
        self._done += items
        self._bars.advance(self._bar, items)
        now = time.monotonic()
        updating = self._update and not self._update.done()
        if self._total and now - self._updated > UPDATE_SECONDS and not updating:
            self._updated = now
            self._update = asyncio.create_task(self._update_artifact())

    def describe(self, doing: str) -> None:
        """Show what is being done just now."""
        self._bars.update(self._bar, doing=doing)

    def update(self, doing: str, done: int, total: int) -> None:
        """Show the progress of one part of the stage; may be called from any thread."""
        self._bars.update(self._bar, doing=doing, completed=done, total=total)

    def end(self) -> None:
        """Show how long it took."""
        self._bars.update(self._bar, doing="", time="took")

    async def finish(self) -> None:
        """Update the artifact for the last time."""
        if self._update:
            await self._update
        await self._update_artifact()

    def cancel(self) -> None:
        """Leave the artifact as it is."""
        if self._update:
            self._update.cancel()

    async def _update_artifact(self) -> None:
        share = self._done / self._total if self._total else 1.0
        with suppress(httpx.HTTPError):  # the stage goes on without its bar in the UI
            await aupdate_progress_artifact(self._artifact, share * 100)


class NoProgress(StageProgress):
    """The progress of a stage that takes no time worth showing."""

    def __init__(self) -> None: ...

    def advance(self, items: int = 1) -> None: ...

    def describe(self, doing: str) -> None: ...


@asynccontextmanager
async def stage_progress(
    stage: str, total: int | None, item: str = "item"
) -> AsyncIterator[StageProgress]:
    """Show a bar and a progress artifact for a stage that TITLES has; call it inside a flow run.

    total: the stage's items; None if unknown beforehand.
    """
    kind, _, rest = stage.partition(" ")
    if not {stage, kind} & {*TITLES}:
        yield NoProgress()
        return
    name = TITLES.get(stage) or f"{TITLES[kind]} ({rest})"
    described = name if total is None else f"{name}: {format_count(total, item)}"
    artifact = await acreate_progress_artifact(
        progress=0.0, key=f"progress-{stage.replace(' ', '-')}", description=described
    )
    if not STDERR.is_terminal:  # a log gets a line per stage instead of bars
        print_message(described)
    with _share_bars() as bars:
        progress = StageProgress(bars, name, total, artifact)
        try:
            yield progress
        except BaseException:
            progress.cancel()
            raise
        progress.end()
    await progress.finish()


_shared: list[Progress] = []
"""The bars on the terminal, once for each stage that has one of them."""


@contextmanager
def _share_bars() -> Iterator[Progress]:
    """Open the bars of all stages that run just now: a terminal has room for one such display."""
    bars = _shared[0] if _shared else _make_bars()
    _shared.append(bars)
    bars.start()
    try:
        yield bars
    finally:
        _shared.remove(bars)
        if not _shared:
            bars.stop()


def _make_bars() -> Progress:
    columns = (
        TextColumn("{task.description:<18}", markup=False),
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[time]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[doing]}", style="dim", markup=False),
    )
    return Progress(*columns, console=STDERR, disable=not STDERR.is_terminal)
