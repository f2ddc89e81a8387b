"""Fit the offline judge's weights to recorded verdicts and report the agreement.

    python -m tests.rigs.fit_offline_judge ../shared/data [--write]

Logistic regression with non-negative weights and one intercept per family of decisions. The
optimum is unique and the fit deterministic: the same data give the same weights.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.optimize import minimize

from tasks.judges.offline.lexical import FEATURE_NAMES
from tasks.judges.offline.weights import (
    WEIGHTS_FILE,
    WEIGHTS_VERSION,
    FamilyValues,
    FeatureWeights,
    HeldOutAgreement,
    OfflineWeights,
)
from tasks.metrics.agreement import accuracy, cohen_kappa
from tests.rigs.calibration_items import CalibrationItem, load_items

FAMILIES = tuple(FamilyValues.model_fields)
REGULARISATION = 1.0
"""L2 penalty on the standardised weights; results hardly change between 0.1 and 10."""
THRESHOLD = 0.5
DATA = (
    "1,542 key points (DeepResearchGym, GPT-4.1-mini), 195 claims against cited pages and 207"
    " sentences against sentences (Wiki Live Challenge, Gemini-2.5)"
)
TASKS: dict[str, tuple[tuple[str, ...], str]] = {
    "key points, leave one question out": (("key_point_in_report",), ".740 / .475"),
    "reference fact in report, blocks": (("fact_in_report",), ".744 / .410"),
    "both directions, blocks": (("fact_in_report", "claim_in_article"), ".710 / .321"),
    "claim in cited page, leave one page out": (("claim_in_page",), ".723 / .445"),
}
"""Families, and accuracy / kappa of an earlier fit to a larger, unpublished set."""

FILE_HEADER = """\
# The offline judge's weights, written by `python -m tests.rigs.fit_offline_judge DATA --write`.
# Changed weights or thresholds make another judge, which judges everything again; changed comments
# do not.
"""

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class FittedModel:
    """Weights in logits per unit of a feature; intercepts in the order of `FAMILIES`."""

    weights: Matrix
    intercepts: Matrix

    def probabilities(self, items: Sequence[CalibrationItem]) -> Matrix:
        """Return the probabilities of the positive class, before any veto."""
        rows = np.array([item.row for item in items])
        family = [FAMILIES.index(item.family) for item in items]
        return 1 / (1 + np.exp(-(rows @ self.weights + self.intercepts[family])))


def fit(items: Sequence[CalibrationItem]) -> FittedModel:
    """Maximise the penalised likelihood over standardised features, with weights of at least 0."""
    rows = np.array([item.row for item in items])
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    family = np.array([[item.family == name for name in FAMILIES] for item in items], float)
    design = np.hstack([(rows - mean) / spread, family])
    bounds = [(0.0, None)] * len(FEATURE_NAMES) + [(None, None)] * len(FAMILIES)
    solved = minimize(
        _make_objective(design, np.array([1.0 if item.positive else -1.0 for item in items])),
        np.zeros(design.shape[1]),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
    )
    weights = solved.x[: len(FEATURE_NAMES)] / spread
    return FittedModel(weights, solved.x[len(FEATURE_NAMES) :] - mean @ weights)


def _make_objective(design: Matrix, sign: Matrix) -> Callable[[Matrix], tuple[float, Matrix]]:
    """Return the penalised negative log-likelihood with its gradient; intercepts are hardly
    penalised."""
    penalty = np.array([REGULARISATION] * len(FEATURE_NAMES) + [1e-6] * len(FAMILIES))

    def value(solution: Matrix) -> tuple[float, Matrix]:
        margin = sign * (design @ solution)
        loss = np.logaddexp(0, -margin).sum() + (penalty * solution**2).sum() / 2
        return float(loss), -design.T @ (sign / (1 + np.exp(margin))) + penalty * solution

    return value


def predict_held_out(items: Sequence[CalibrationItem]) -> list[bool]:
    """Predict each item with a model fitted without the item's group."""
    predicted = [False] * len(items)
    for group in sorted({item.group for item in items}):
        fitted = fit([item for item in items if item.group != group])
        places = [place for place, item in enumerate(items) if item.group == group]
        found = fitted.probabilities([items[place] for place in places])
        for place, probability in zip(places, found, strict=True):
            predicted[place] = bool(probability >= THRESHOLD) and not items[place].vetoed
    return predicted


def measure_agreements(items: Sequence[CalibrationItem]) -> dict[str, HeldOutAgreement]:
    """Return the agreement on held-out items for each task."""
    predicted = predict_held_out(items)
    return {
        task: _measure_agreement([(i.positive, s) for i, s in zip(items, predicted, strict=True)
                          if i.family in families])
        for task, (families, _) in TASKS.items()
    }  # fmt: skip


def _measure_agreement(pairs: Sequence[tuple[bool, bool]]) -> HeldOutAgreement:
    recorded, predicted = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    share = sum(recorded) / len(pairs)
    return HeldOutAgreement(
        n=len(pairs),
        positive=sum(recorded),
        accuracy=round(accuracy(recorded, predicted) or 0.0, 4),
        majority=round(max(share, 1 - share), 4),
        kappa=round(cohen_kappa(recorded, predicted) or 0.0, 4),
    )


def fit_weights(items: Sequence[CalibrationItem]) -> OfflineWeights:
    """Fit the contents of the weights file."""
    found = fit(items)
    return OfflineWeights(
        version=WEIGHTS_VERSION,
        fitted_on=datetime.now(UTC).date(),
        data=DATA,
        regularisation=REGULARISATION,
        intercepts=FamilyValues(**_round_values(FAMILIES, found.intercepts)),
        weights=FeatureWeights(**_round_values(FEATURE_NAMES, found.weights)),
        thresholds=FamilyValues(**dict.fromkeys(FAMILIES, THRESHOLD)),
        held_out=measure_agreements(items),
    )


def _round_values(names: Sequence[str], values: Matrix) -> dict[str, float]:
    return {name: round(float(value), 4) + 0.0 for name, value in zip(names, values, strict=True)}


def _format_table(held: dict[str, HeldOutAgreement]) -> str:
    lines = [
        f"{'held out':41} {'n':>5} {'accuracy (majority)':>20} {'kappa':>6}  earlier acc/kappa"
    ]
    for task, got in held.items():
        figures = f"{got.accuracy:.3f} ({got.majority:.3f})"
        lines.append(f"{task:41} {got.n:>5} {figures:>20} {got.kappa:>6.3f}  {TASKS[task][1]}")
    return "\n".join(lines)


def main() -> None:
    """Fit, print, and with --write replace the weights file."""
    parser = argparse.ArgumentParser(description="Fit the offline judge to recorded verdicts.")
    parser.add_argument("data", type=Path, help="the shared data folder, e.g. ../shared/data")
    parser.add_argument("--write", action="store_true", help="replace the weights file")
    arguments = parser.parse_args()
    found = fit_weights(load_items(arguments.data))
    print(_format_table(found.held_out))
    document = yaml.safe_dump(found.model_dump(mode="json"), sort_keys=False, width=100)
    print(document)
    if arguments.write:
        WEIGHTS_FILE.write_text(FILE_HEADER + document, "utf-8")
        print(f"wrote {WEIGHTS_FILE}")


if __name__ == "__main__":
    main()
