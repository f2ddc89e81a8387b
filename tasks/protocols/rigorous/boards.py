"""The boards of Rigorous Bench: the figures, and other settings of what its paper leaves open."""

from tasks.protocols.board import OPEN_NOTE, Board

RIGOROUS_COLUMNS = {
    "rigorous_integrated": "Integr.",
    "rigorous_quality": "Quality",
    "rigorous_query_rubrics": "Query r.",
    "rigorous_general_rubrics": "Gen. r.",
    "rigorous_drift": "Drift",
    "rigorous_focus_drift": "Focus d.",
    "rigorous_deviation_drift": "Dev. d.",
    "rigorous_focus_frequency": "Focus kw.",
    "rigorous_deviation_frequency": "Dev. kw.",
    "rigorous_trust_boost": "Boost",
    "rigorous_evaluated_share": "Eval.",
    "rigorous_per_token": "/100 tok.",
}
RIGOROUS_SENSITIVITY = {
    "rigorous_integrated": "Integr.",
    "rigorous_integrated_eps1": "I ε1",
    "rigorous_integrated_eps3": "I ε3",
    "rigorous_integrated_eps5": "I ε5",
    "rigorous_integrated_other_norm": "I N",
    "rigorous_integrated_code": "I code",
    "rigorous_drift": "Drift",
    "rigorous_drift_eps1": "D ε1",
    "rigorous_drift_eps3": "D ε3",
    "rigorous_drift_eps5": "D ε5",
    "rigorous_drift_other_norm": "D N",
    "rigorous_drift_code": "D code",
}

BOARDS = (
    Board(
        frozenset({"rigorous"}),
        RIGOROUS_COLUMNS,
        ("rigorous_integrated", "rigorous_focus_frequency"),
        "rigorous_trust_boost",
        "Percent: Integr. (quality × (1 − drift) × boost) is the paper's score of 0 to 120, "
        "Boost 100 to 120. Query r., Gen. r.: share of the points by the query's own and the "
        "general rubrics. Drift (lower is better) consists of Focus d., the focus "
        "keywords that the report lacks, and Dev. d., the deviation keywords that it has; Focus "
        "kw. and Dev. kw.: how often these occur. /100 tok.: points of Integr. per 100 tokens of "
        "the agent, if their number is known. Eval.: rubrics and keywords that "
        f"the judge decided. –: not assessed. {OPEN_NOTE}, or rubrics are drafts. Thresholds and "
        "normalisation of the drift are unspecified by the paper. Rank: by Integr., then Focus "
        "kw.",
        "Rigorous Bench",
    ),
    Board(
        frozenset({"rigorous"}),
        RIGOROUS_SENSITIVITY,
        ("rigorous_integrated",),
        "rigorous_trust_boost",
        "Integr. (I) and Drift (D) with other settings of what the paper leaves "
        "unspecified: both thresholds 1, 3 or 5; N: the other normalisation of relevance; code: "
        "keywords as in the authors' notebook. Rank: by Integr.",
        "Rigorous Bench: sensitivity to what is unspecified by the paper",
        only_valued=True,
    ),
)
