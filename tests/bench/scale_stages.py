"""One stage of `bench_scale`, in a process of its own: `python -m tests.bench.scale_stages NAME`.

So the most memory that the process ever held is the stage's own. The flows are those of `evergreen
evaluate`, with a Prefect server beside them; the time is from a stage's begin to its end, without
imports and without the start of the server. The last line printed is the figures as JSON.
"""

import argparse
import asyncio
import gc
import json
import os
import resource
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.runtime.server import local_server
from tests.bench.scaled import EDITION, Size, generate

JUDGE = "bench"
PROTOCOLS = ("wiki_fact", "wiki_writing")


@dataclass
class Work:
    """What is measured, where, and what came of it."""

    folder: Path
    articles: int
    agents: int
    thin: int
    judged: int
    """Cells that are judged; all others count as judged before."""
    seconds: float = 0.0
    """Of the stage, without what it takes to begin."""

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse.duckdb"

    @contextmanager
    def timed(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - began

    @contextmanager
    def plan(self) -> Iterator[Any]:
        """What is pending; the warehouse is open meanwhile."""
        from tasks.run import Plan, Selection
        from tasks.warehouse.store import open_warehouse

        with open_warehouse(self.warehouse) as store:
            yield Plan(store, Selection(edition=EDITION, protocols=PROTOCOLS, judge=JUDGE))

    def stage(self, stage: Any) -> int:
        """Run a stage as `evaluate` does; how many items were pending."""
        from flows.stages import run_stage_flow
        from tasks.run import open_run

        with self.plan() as plan:
            n = len(plan.find_pending(stage))
            with open_run(plan) as run:
                self.flow(lambda: run_stage_flow(run, stage))
        return n

    def flow(self, run: Callable[[], Awaitable[Any]]) -> Any:
        """Run a flow as `flows.run` does, with the warehouse open."""

        async def finished() -> Any:
            return await run()

        from tasks.warehouse.store import open_warehouse

        with local_server(self.folder / "prefect"):
            gc.collect()
            gc.freeze()
            gc.set_threshold(20_000, 20, 50)
            with open_warehouse(self.warehouse), self.timed():
                found = asyncio.run(finished())
        if isinstance(found, list) and found:
            raise SystemExit(f"{len(found)} failures, the first: {found[0]}")
        return found


def made(work: Work) -> int:
    """The edition, without verdicts."""
    with work.timed():
        return generate(work.warehouse, work.articles, work.agents, Size().thinned(work.thin))


def ledger(work: Work) -> int:
    """Every question that will be asked is answered; where not all cells are to be judged, the
    others are."""
    from tests.bench.answered import fill_ledger

    todo = [plan for plan in _plans(work) if plan.state == "pending"]
    real = chosen(todo, work.judged)
    ids = {plan.cell_id for plan in real}
    before = [plan for plan in todo if plan.cell_id not in ids]
    with work.timed():
        return fill_ledger(work.warehouse, real, before, work.folder / "filled")


def chosen(plans: Sequence[Any], n: int) -> list[Any]:
    """All, or about `n` of them, as many neighbours of each protocol and agent: cells are read by
    neighbours."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for plan in plans:
        groups.setdefault((plan.protocol, plan.agent), []).append(plan)
    size = -(-n // len(groups))
    return [
        plan for group in groups.values() for plan in group[max(0, len(group) - size) // 2 :][:size]
    ]


def plan(work: Work) -> int:
    """Which cells there are, and what they rest on: asked twice in an evaluation."""
    with work.timed():
        n = len(_plans(work))
    return n


def _plans(work: Work) -> list[Any]:
    from tasks.verdicts import list_cells

    with work.plan() as plan:
        found: list[Any] = plan.ask(list_cells)
        return found


def diagnostics(work: Work) -> int:
    """Style figures of all texts."""
    from tasks.diagnostics import DIAGNOSTICS

    return work.stage(DIAGNOSTICS)


def verdicts(work: Work) -> int:
    """Judge the cells that are pending, their questions answered by the ledger."""
    from tasks.verdicts import VERDICTS

    return work.stage(VERDICTS)


def scores(work: Work) -> int:
    """One row per report and metric."""
    from tasks.scores import SCORES

    work.stage(SCORES)
    return _count(work, "scores")


def leaderboard(work: Work) -> int:
    """Figures, intervals, rank ranges, pairs; without the snapshot, which is the next stage."""
    from tasks import leaderboard as module

    module.export_edition = lambda warehouse, edition: Path()  # type: ignore[attr-defined]
    work.stage(module.LEADERBOARD)
    return _count(work, "leaderboard") + _count(work, "agent_pairs")


def snapshot(work: Work) -> int:
    """Every table of the edition as Parquet."""
    from tasks.warehouse.snapshot import Manifest, export_edition
    from tasks.warehouse.store import open_warehouse

    with open_warehouse(work.warehouse) as warehouse, work.timed():
        folder = export_edition(warehouse, EDITION)
    manifest = Manifest.model_validate_json((folder / "manifest.json").read_text("utf-8"))
    n_rows: int = sum(manifest.rows.values())
    return n_rows


def again(work: Work) -> int:
    """The whole flow once more: nothing is pending, and that is what it has to find out."""
    from flows.evaluate import evaluate

    asked: Any = {"judge": JUDGE, "protocols": list(PROTOCOLS), "warehouse": str(work.warehouse)}
    running: Any = evaluate
    state = work.flow(lambda: running(EDITION, **asked, return_state=True))
    if state.name != "Completed":
        raise SystemExit(f"{state.name}: {state.message}")
    return 1


def publish(work: Work) -> int:
    """The site."""
    from tasks.publishing.site import build_site
    from tasks.warehouse.reader import open_for_reading

    with work.timed(), open_for_reading(work.warehouse) as source:
        return build_site(source, EDITION, work.folder / "site").files


STAGES: dict[str, tuple[Callable[[Work], int], str]] = {
    "made": (made, "reports"),
    "ledger": (ledger, "calls"),
    "plan": (plan, "cells"),
    "diagnostics": (diagnostics, "texts"),
    "verdicts": (verdicts, "cells"),
    "scores": (scores, "scores"),
    "leaderboard": (leaderboard, "figures"),
    "snapshot": (snapshot, "rows"),
    "again": (again, "flow"),
    "publish": (publish, "files"),
}
"""In order; each with what its items are."""


def _count(work: Work, table: str) -> int:
    from tasks.warehouse.reader import open_for_reading

    with open_for_reading(work.warehouse) as source:
        return int(source.frame(f"SELECT count(*) AS n FROM {table}").item())


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("--work", type=Path, required=True)
    for name in ("articles", "agents", "thin", "judged"):
        parser.add_argument(f"--{name}", type=int, required=True)
    return parser


def main() -> None:
    asked = arguments().parse_args()
    work = Work(asked.work, asked.articles, asked.agents, asked.thin, asked.judged)
    run, _ = STAGES[asked.stage]
    before = _processor()
    items = run(work)
    own, helpers = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    figures = {
        "items": items, "seconds": work.seconds, "processor": _processor() - before,
        "megabytes": own, "megabytes_of_helpers": helpers,
    }  # fmt: skip
    print(json.dumps(figures), flush=True)
    # Whatever still waits in a background thread has nothing to do with the stage.
    os._exit(0)


def _processor() -> float:
    """Seconds of the processor, of this process and of its helpers that have ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


if __name__ == "__main__":
    main()
