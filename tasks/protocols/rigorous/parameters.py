"""The parameters of Rigorous Bench: `parameters` of `configs/protocols/rigorous.yaml`."""

from typing import Annotated, NamedTuple

from pydantic import Field, PositiveFloat, PositiveInt, StringConstraints

from tasks.configuration.loading import ConfigModel
from tasks.metrics.integrated_score import BoostWeights, HostMode, Normalisation
from tasks.protocols.rigorous.evidence import FREQUENCY, OCCURRENCES

Share = Annotated[float, Field(ge=0, le=1)]
DomainCode = Annotated[str, StringConstraints(pattern=r"^\d{2}$")]
EPSILONS = (1, 3, 5)
"""Thresholds for which figures are computed besides the configured ones."""
CODE_EPSILONS = (2, 1)
"""Thresholds of focus and deviation keywords in the authors' notebook."""


class RigorousParameters(ConfigModel):
    query_weight: Share = 0.5
    """α: weight of the query's own rubrics in the quality; β is 1 - α."""
    focus_weight: Share = 0.7
    """Weight of the focus keywords in the drift; the deviation keywords have the rest to 1."""
    boost_most: Share = 0.2
    """η"""
    boost_exact: Share = 0.7
    """θ: weight of cited trusted pages."""
    boost_host: Share = 0.3
    """κ: weight of other cited pages on their hosts."""
    host_mode: HostMode = "algorithm"
    focus_epsilon: PositiveFloat = 3
    """ε₊: occurrences from which on a focus keyword is fully present."""
    deviation_epsilon: PositiveFloat = 3
    """ε₋"""
    relevance: Normalisation = "ratio"
    """N: how to map a relevance to a share."""
    rubrics_per_call: PositiveInt = 1
    keywords_per_call: PositiveInt = 1
    domains: dict[DomainCode, str] = Field(default_factory=dict)
    """Names of the domain codes that uids begin with; a code without one is its own name. Used when
    entries are imported; verdicts do not depend on it."""

    @property
    def boost_weights(self) -> BoostWeights:
        return BoostWeights(self.boost_most, self.boost_exact, self.boost_host)


class KeywordRule(NamedTuple):
    """How keywords are counted, which the paper leaves open."""

    focus_epsilon: float
    deviation_epsilon: float
    relevance: Normalisation
    counted: str = FREQUENCY
    """The step whose counts are used."""


def keyword_rule(parameters: RigorousParameters) -> KeywordRule:
    """Return the configured rule."""
    return KeywordRule(parameters.focus_epsilon, parameters.deviation_epsilon, parameters.relevance)


def alternative_rules(parameters: RigorousParameters) -> dict[str, KeywordRule]:
    """Return the alternatives by suffix of the metric's name: other thresholds, the other
    normalisation, and the settings of the authors' notebook."""
    own = keyword_rule(parameters)
    other: Normalisation = "linear" if own.relevance == "ratio" else "ratio"
    return {
        **{f"eps{n}": own._replace(focus_epsilon=n, deviation_epsilon=n) for n in EPSILONS},
        "other_norm": own._replace(relevance=other),
        "code": KeywordRule(*CODE_EPSILONS, "ratio", OCCURRENCES),
    }
