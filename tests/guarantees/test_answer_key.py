"""The offline judge beside people's reading of the sample edition: data/sample/answer_key.csv.

The key says for every fact and report whether the report states the fact. It was written by
reading, without the judge; the rules are in data/sample/README.md.
"""

import csv
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tasks.metrics.agreement import cohen_kappa
from tasks.warehouse.store import Warehouse, open_warehouse
from tests.sample_edition import WHOLE

STATED = ("plainly", "reworded")
ANSWERS = (*STATED, "partly", "absent", "contradicted")
LEAST_KAPPA = 0.78
"""Measured .83; a single answer is .004."""
FARTHEST = 10.0
"""Percentage points between an agent's coverage and its true one; measured: at most 9."""
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")

Asked = tuple[str, str, str]
"""Article, fact, agent."""


class Found(NamedTuple):
    stated: bool
    probability: float
    evidence: str | None


def read_key() -> dict[Asked, str]:
    """Read every answer; a file of one row for a fact and one column for an agent."""
    with (WHOLE / "answer_key.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["article"], row["fact"], agent): row[agent]
            for row in csv.DictReader(file)
            for agent in row.keys() - {"article", "fact"}
        }


KEY = read_key()
AGENTS = sorted({agent for *_, agent in KEY})


@pytest.fixture(scope="module")
def evaluated(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """The whole edition, judged offline."""
    path = Path(shutil.copy(whole, tmp_path_factory.mktemp("whole") / "warehouse.duckdb"))
    with open_warehouse(path) as warehouse:
        yield warehouse


@pytest.fixture(scope="module")
def judged(evaluated: Warehouse) -> dict[Asked, Found]:
    """What the offline judge says of every fact and report."""
    question = (
        "SELECT assignment, fact, agent, label = 'consistent', score, evidence FROM fact_verdicts "
        "WHERE judge = 'offline' AND status = 'ok'"
    )
    return {
        (article, fact, agent): Found(*verdict)
        for article, fact, agent, *verdict in evaluated.frame(question).iter_rows()
    }


def share(values: list[float]) -> float:
    return 100 * sum(values) / len(values)


def test_the_key_answers_every_fact_and_report_once(judged: dict[Asked, Found]) -> None:
    assert KEY.keys() == judged.keys()
    assert {*KEY.values()} == {*ANSWERS}


def test_what_the_key_calls_plain_has_all_of_the_facts_numbers() -> None:
    for (article, fact, agent), answer in KEY.items():
        if answer == "plainly":
            report = WHOLE / "test_data" / agent / "md_data" / f"{article}.md"
            written = {*_NUMBER.findall(report.read_text("utf-8"))}
            assert {*_NUMBER.findall(fact)} <= written, (agent, fact)


def test_agents_and_articles_differ_in_what_they_truly_cover() -> None:
    by_agent = {a: share([KEY[k] in STATED for k in KEY if k[2] == a]) for a in AGENTS}
    assert max(by_agent.values()) < 90
    assert min(by_agent.values()) > 5
    for agent in AGENTS:
        articles = {article for article, _, by in KEY if by == agent}
        of_article = [
            share([KEY[k] in STATED for k in KEY if (k[0], k[2]) == (a, agent)]) for a in articles
        ]
        assert max(of_article) - min(of_article) > 10, agent


def test_no_plainly_stated_fact_is_missed(judged: dict[Asked, Found]) -> None:
    missed = [
        f"{agent}/{article}: {fact} (p {judged[article, fact, agent].probability:.2f})"
        for (article, fact, agent), answer in KEY.items()
        if answer == "plainly" and not judged[article, fact, agent].stated
    ]
    assert missed == []


def test_the_offline_judge_agrees_with_the_key(judged: dict[Asked, Found]) -> None:
    true = [KEY[asked] in STATED for asked in sorted(KEY)]
    said = [judged[asked].stated for asked in sorted(KEY)]
    accuracy = share([a == b for a, b in zip(true, said, strict=True)])
    kappa = cohen_kappa(true, said)
    taken = Counter(KEY[asked] for asked in KEY if judged[asked].stated)
    print(f"\n{len(KEY)} facts and reports: accuracy {accuracy:.1f} %, kappa {kappa:.3f}")
    for answer in ANSWERS:
        print(f"{answer:13} {taken[answer]:3} of {[*KEY.values()].count(answer):3} taken as stated")
    assert kappa is not None
    assert kappa >= LEAST_KAPPA


def test_every_agents_coverage_is_near_its_true_one_and_in_its_order(
    judged: dict[Asked, Found],
) -> None:
    table = {}
    for agent in AGENTS:
        of_agent = [asked for asked in sorted(KEY) if asked[2] == agent]
        table[agent] = (
            share([KEY[asked] in STATED for asked in of_agent]),
            share([judged[asked].stated for asked in of_agent]),
            share([judged[asked].probability for asked in of_agent]),
        )
    print("\nagent             true  counted  soft")
    for agent, (true, counted, soft) in table.items():
        print(f"{agent:16} {true:5.1f}    {counted:5.1f} {soft:5.1f}")
    for true, counted, soft in table.values():
        assert abs(counted - true) <= FARTHEST
        assert abs(soft - true) <= FARTHEST
    orders = [sorted(AGENTS, key=lambda agent: table[agent][column]) for column in range(3)]
    assert orders[0] == orders[1] == orders[2]


def test_ranks_differ_figures_have_intervals_and_metrics_order_agents_differently(
    evaluated: Warehouse,
) -> None:
    board = {
        metric: evaluated.frame(
            "SELECT * FROM leaderboard WHERE metric = ? ORDER BY value DESC", [metric]
        )
        for metric in ("coverage_wiki_soft", "ref_acc")
    }
    for rows in board.values():
        assert rows.height == len(AGENTS)
        assert rows["low"].null_count() == rows["high"].null_count() == 0
        assert rows["rank_from"].n_unique() > 1
    assert board["coverage_wiki_soft"]["agent"].to_list() != board["ref_acc"]["agent"].to_list()
