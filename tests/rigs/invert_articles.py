"""Real articles are turned around into questions, and every question is printed with its fate.

    python -m tests.rigs.invert_articles [--articles 10] [--questions 20] [--data ../shared/data]
        [--judge scripted | NAME] [--warehouse FILE]

`scripted` is the oracle of tests/servers behind the real SDK and a real socket; it knows two of
the articles by heart, so that questions on them are known without search. NAME is a judge of
`configs/judges.yaml`. Exit code 0: every question is accepted or rejected, or, with a real model,
open with its reason.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tasks.configuration.inversion import load_inversion
from tasks.imports.wlc import import_edition
from tasks.questions import (
    PendingArticle,
    QuestionsOpen,
    find_pending_articles,
    get_inverter,
    make_questions,
)
from tasks.warehouse.questions import Question
from tasks.warehouse.rows import Article, Assignment
from tasks.warehouse.store import Warehouse, open_warehouse
from tests.servers.fences import Parsed
from tests.servers.gemini import GeminiServer
from tests.servers.oracle import Answer, Oracle
from tests.servers.oracle_inversion import inverted
from tests.servers.serving import serving
from tests.tasks.runs import open_judge

ROOT = Path(__file__).resolve().parents[2]
EDITION = "2025_Mar_Nov"
SCRIPTED_AS = "gemini-3.8-flash"
KNOWN_BY_HEART = 2


class Remembering(Oracle):
    """The oracle with some articles in its memory."""

    def __init__(self, memory: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._memory = memory

    def decide(self, prompt: Parsed, schema: dict[str, Any] | None) -> Answer:
        answer = inverted(prompt, self._memory)
        return super().decide(prompt, schema) if answer is None else answer


def chosen(warehouse: Warehouse, judge: str, n_articles: int) -> list[PendingArticle]:
    return find_pending_articles(warehouse, EDITION, get_inverter(judge), n_articles)


@contextmanager
def asked(options: argparse.Namespace, warehouse: Warehouse) -> Iterator[str]:
    """The judge to be asked, reachable meanwhile."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        if options.judge == "scripted":
            patch.setenv("GEMINI_API_KEY", "test-key")
            # The lot does not depend on the judge, so this is what will be asked about.
            known = [p.inversion.article for p in chosen(warehouse, SCRIPTED_AS, KNOWN_BY_HEART)]
            memory = [
                (article.title, article.text)
                for article in warehouse.rows(Article, "edition = $1", [EDITION])
                if article.article in known
            ]
            server = GeminiServer(model=Remembering(memory), answers_as=SCRIPTED_AS)
            patch.setenv("GOOGLE_GEMINI_BASE_URL", stack.enter_context(serving(server)))
            yield SCRIPTED_AS
        else:
            yield options.judge


async def inverted_articles(warehouse: Warehouse, judge: str, n_articles: int) -> None:
    async with open_judge(warehouse, judge) as session:
        for pending in chosen(warehouse, judge, n_articles):
            try:
                await make_questions(warehouse, session, pending)
            except QuestionsOpen as error:
                print(f"open: {error}"[:300])


def show(number: int, question: Question, title: str) -> None:
    target = json.loads(question.target) if question.target else None
    why = f" ({question.reason}: {question.detail})" if question.reason else ""
    print(f"\n{number}. {question.state}{why}"[:400])
    print(f"   article: {title}; category {question.category}")
    print(f"   question: {question.question or '(none was posed)'}")
    for truth in json.loads(question.truths or "[]"):
        subs = ", ".join(f"{s['name']}: {s['value']}" for s in truth["sub_claims"])
        origin = truth["sentence"] or "added by the judge"
        print(f"   true: {truth['value']}{' · ' * bool(subs)}{subs} | {origin}"[:300])
    if target and not question.truths:
        print(f"   target: {target['answer']}")
    figures = {
        "closed-book F1": question.closed_book_f1, "single page": question.single_page,
        "pages": question.n_pages, "posed": question.pose_rounds,
        "refined": question.refinement_rounds, "n-grams": question.ngram_share,
        "longest run": question.longest_run, "queries": question.n_queries,
        "units": question.n_units, "minutes": question.minutes,
    }  # fmt: skip
    said = (f"{n} {v:.2f}" if isinstance(v, float) else f"{n} {v}" for n, v in figures.items()
            if v is not None)  # fmt: skip
    print(f"   {', '.join(said)}")


def summary(warehouse: Warehouse) -> None:
    print("\nstate, reason, n, mean closed-book F1 (over how many)")
    rows = warehouse.frame(
        "SELECT state, reason, count(*), avg(closed_book_f1), count(closed_book_f1) "
        "FROM questions GROUP BY ALL ORDER BY ALL"
    )
    for state, reason, n, f1, over in rows.iter_rows():
        baseline = "-" if f1 is None else f"{f1:.2f} ({over})"
        print(f"  {state:9} {reason or '':24} {n:>3}  {baseline}")
    n_calls = warehouse.value("SELECT count(*) FROM calls")
    assigned = warehouse.rows(Assignment, "kind = 'find_claims'")
    print(f"{n_calls} calls in the ledger, {len(assigned)} assignments")
    if assigned:
        print(f"\nThe first assignment as an agent gets it:\n\n{assigned[0].prompt}")


def run(options: argparse.Namespace, path: Path) -> bool:
    started = time.monotonic()
    with open_warehouse(path) as warehouse:
        import_edition(warehouse, options.data / "wlc" / EDITION, EDITION)
        print(f"{EDITION} imported, {time.monotonic() - started:.0f} s")
        with asked(options, warehouse) as judge:
            asyncio.run(inverted_articles(warehouse, judge, options.articles))
            left = [p.title for p in chosen(warehouse, judge, options.articles)]
        titles = {a.article: a.title for a in warehouse.rows(Article, "edition = $1", [EDITION])}
        questions = warehouse.rows(Question, "edition = $1", [EDITION])
        for number, question in enumerate(questions[: options.questions], start=1):
            show(number, question, titles[question.article])
        for question in questions[options.questions :]:
            print(
                f"not shown: {titles[question.article]}, {question.state} {question.reason or ''}"
            )
        summary(warehouse)
    seconds = time.monotonic() - started
    print(f"{len(questions)} questions from {options.articles} articles, {seconds:.0f} s")
    if left:
        print(f"still open: {', '.join(left)}")
    return bool(questions) and (options.judge != "scripted" or not left)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", type=int, default=10)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--judge", default="scripted")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--warehouse", type=Path, help="kept; a temporary one if not given")
    options = parser.parse_args()
    print(f"seed {load_inversion().seed}, {os.cpu_count()} cores")
    if options.warehouse:
        return 0 if run(options, options.warehouse) else 1
    with tempfile.TemporaryDirectory(prefix="evergreen-invert-") as folder:
        return 0 if run(options, Path(folder) / "warehouse.duckdb") else 1


if __name__ == "__main__":
    sys.exit(main())
