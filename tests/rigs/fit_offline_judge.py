"""Fit the offline judge to recorded verdicts, and measure it.

    python -m tests.rigs.fit_offline_judge ../shared/data [--write]

Logistic regression with non-negative weights and one intercept per family of decisions. The
optimum is unique and the fit deterministic: the same data give the same weights. The threshold of
`fact_in_report` is where counted coverage of the shared edition equals the mean probability.

The weights file also says what was measured: agreement on held-out items, key points in padded
reports, controls made from the reference articles, coverage of the shared edition's agents.
With --write the background's stems are counted again first.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.optimize import minimize

from tasks.judges.offline.judge import OfflineJudge
from tasks.judges.offline.lexical import FEATURE_NAMES
from tasks.judges.offline.weights import (
    WEIGHTS_FILE,
    WEIGHTS_VERSION,
    FamilyValues,
    FeatureWeights,
    HeldOutAgreement,
    OfflineWeights,
    PaddedAgreement,
)
from tasks.metrics.agreement import accuracy, cohen_kappa
from tests.rigs.background_stems import write_stems
from tests.rigs.calibration_items import CalibrationItem, load_items, load_padded_key_points
from tests.rigs.offline_judge_controls import (
    choose_threshold,
    describe_agents,
    measure_controls,
    score_agents,
)
from tests.rigs.shared_edition import SharedEdition, load_edition

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


def predict_held_out(
    items: Sequence[CalibrationItem],
    thresholds: FamilyValues,
    asked: Sequence[CalibrationItem] | None = None,
) -> list[bool]:
    """Predict each item, or each of `asked`, with a model fitted to `items` of other groups."""
    asked = items if asked is None else asked
    predicted = [False] * len(asked)
    for group in sorted({item.group for item in asked}):
        fitted = fit([item for item in items if item.group != group])
        places = [place for place, item in enumerate(asked) if item.group == group]
        found = fitted.probabilities([asked[place] for place in places])
        for place, probability in zip(places, found, strict=True):
            least = getattr(thresholds, asked[place].family)
            predicted[place] = bool(probability >= least) and not asked[place].vetoed
    return predicted


def measure_agreements(
    items: Sequence[CalibrationItem], thresholds: FamilyValues
) -> dict[str, HeldOutAgreement]:
    """Return the agreement on held-out items for each task."""
    predicted = predict_held_out(items, thresholds)
    return {
        task: _measure_agreement([(i.positive, s) for i, s in zip(items, predicted, strict=True)
                          if i.family in families])
        for task, (families, _) in TASKS.items()
    }  # fmt: skip


def measure_padded(
    items: Sequence[CalibrationItem],
    padded: Sequence[CalibrationItem],
    thresholds: FamilyValues,
) -> PaddedAgreement:
    """Compare held-out key points in reports as they are and padded."""
    plain = [item for item in items if item.family == "key_point_in_report"]
    recorded = [item.positive for item in plain]
    found, found_padded = (predict_held_out(items, thresholds, of) for of in (plain, padded))
    return PaddedAgreement(
        share=round(sum(found) / len(found), 4),
        share_padded=round(sum(found_padded) / len(found), 4),
        kappa=round(cohen_kappa(recorded, found) or 0.0, 4),
        kappa_padded=round(cohen_kappa(recorded, found_padded) or 0.0, 4),
    )


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


def fit_weights(data: Path, edition: SharedEdition) -> OfflineWeights:
    """Fit the contents of the weights file, and measure the judge that they make."""
    items = load_items(data)
    found = fit(items)
    thresholds = FamilyValues(**dict.fromkeys(FAMILIES, THRESHOLD))
    fitted = OfflineWeights(
        version=WEIGHTS_VERSION,
        fitted_on=datetime.now(UTC).date(),
        data=DATA,
        regularisation=REGULARISATION,
        intercepts=FamilyValues(**_round_values(FAMILIES, found.intercepts)),
        weights=FeatureWeights(**_round_values(FEATURE_NAMES, found.weights)),
        thresholds=thresholds,
    )
    honest, everything = score_agents(make_judge(fitted), edition)
    least = choose_threshold(honest)
    thresholds = thresholds.model_copy(update={"fact_in_report": least})
    fitted = fitted.model_copy(update={"thresholds": thresholds})
    measured = {
        "held_out": measure_agreements(items, thresholds),
        "padded": measure_padded(items, load_padded_key_points(data), thresholds),
        "controls": measure_controls(make_judge(fitted), edition),
        "shared_edition": describe_agents(honest, everything, least, edition.published),
    }
    return fitted.model_copy(update=measured)


def make_judge(weights: OfflineWeights) -> OfflineJudge:
    """Return the judge that these weights make."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "weights.yaml"
        file.write_text(format_weights(weights), "utf-8")
        return OfflineJudge(file)


def format_weights(weights: OfflineWeights) -> str:
    """Return the contents of a weights file."""
    document = weights.model_dump(mode="json", exclude_none=True)
    return FILE_HEADER + yaml.safe_dump(document, sort_keys=False, width=100)


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
    parser.add_argument(
        "--write", action="store_true", help="replace the weights file and the stems' counts"
    )
    arguments = parser.parse_args()
    edition = load_edition(arguments.data)
    if arguments.write:
        write_stems(arguments.data, edition)
    found = fit_weights(arguments.data, edition)
    print(_format_table(found.held_out))
    print(format_weights(found))
    if arguments.write:
        WEIGHTS_FILE.write_text(format_weights(found), "utf-8")
        print(f"wrote {WEIGHTS_FILE}")


if __name__ == "__main__":
    main()
