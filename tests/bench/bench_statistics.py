"""How long a board's statistics take: intervals, rank ranges and pairs of one metric of each kind.

    python -m tests.bench.bench_statistics --articles 100,1000,10000

Agents miss up to 4 % of the articles, each others; the draws are made for the first metric and
serve the next ones. The peak is that of the process, with all sizes before it.
"""

import argparse
import resource
import time
from typing import get_args

import numpy as np
import polars as pl

from tasks.configuration.models import MetricEntry
from tasks.metrics.ratios import Aggregate
from tasks.scoring.standings import compute_standings

CATEGORIES = 15


def made_scores(n_articles: int, n_agents: int) -> pl.DataFrame:
    """Shares of 5 to 60 items; agents differ by up to a tenth."""
    lot = np.random.default_rng(n_articles)
    n_items = lot.integers(5, 60, (n_articles, n_agents))
    share = lot.beta(2, 4, (n_articles, 1)) * 0.9 + np.linspace(0, 0.1, n_agents)
    hits = lot.binomial(n_items, share)
    missing = lot.random((n_articles, n_agents)) < np.linspace(0, 0.04, n_agents)
    article, agent = (each.ravel() for each in np.indices(hits.shape))
    return pl.DataFrame({
        "agent": [f"agent{n:02}" for n in agent], "assignment": [f"x{n:06}" for n in article],
        "value": np.where(missing, np.nan, hits / n_items).ravel(), "numerator": hits.ravel(),
        "n_items": n_items.ravel(), "n_open": 0, "state": "done",
    }).with_columns(pl.col("value").fill_nan(None))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", default="100,1000,10000")
    parser.add_argument("--agents", type=int, default=12)
    asked = parser.parse_args()
    print(f"{'articles':>9} {'metric':12} {'processor':>9} {'peak MB':>8}")
    for n_articles in map(int, asked.articles.split(",")):
        scores = made_scores(n_articles, asked.agents)
        category_of = {name: str(int(name[1:]) % CATEGORIES) for name in scores["assignment"]}
        for how in ("macro", *get_args(Aggregate)):
            metric = MetricEntry(name="m", title="M", aggregate=how, better="higher",
                                 description="")  # fmt: skip
            began = time.process_time()
            compute_standings(scores, metric, category_of, {})
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{n_articles:9,} {how:12} {time.process_time() - began:9.2f} {peak:8,.0f}")


if __name__ == "__main__":
    main()
