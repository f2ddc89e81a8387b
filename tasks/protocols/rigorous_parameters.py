"""What Rigorous Bench is set to: `parameters` of `configs/protocols/rigorous.yaml`."""

from typing import Annotated, NamedTuple

from pydantic import Field, PositiveFloat, PositiveInt, StringConstraints

from tasks.configuration.loading import Configured
from tasks.metrics.drift import Normalisation
from tasks.metrics.integrated import BoostWeights, HostMode
from tasks.protocols.rigorous_evidence import FREQUENCY, OCCURRENCES

Share = Annotated[float, Field(ge=0, le=1)]
DomainCode = Annotated[str, StringConstraints(pattern=r"^\d{2}$")]
EPSILONS = (1, 3, 5)
"""Thresholds whose figures stand beside the configured one's."""
CODE_EPSILONS = (2, 1)
"""Of focus and deviation keywords in the authors' notebook."""


class RigorousParameters(Configured):
    query_weight: Share = 0.5
    """α: of the query's own rubrics in the quality; β is what it lacks to 1."""
    focus_weight: Share = 0.7
    """Of the focus keywords in the drift; the deviation keywords' is what it lacks to 1."""
    boost_most: Share = 0.2
    """η"""
    boost_exact: Share = 0.7
    """θ: of trusted pages that are cited themselves."""
    boost_host: Share = 0.3
    """κ: of other cited pages on their hosts."""
    host_mode: HostMode = "algorithm"
    focus_epsilon: PositiveFloat = 3
    """ε₊: occurrences from which on a focus keyword is fully there."""
    deviation_epsilon: PositiveFloat = 3
    """ε₋"""
    relevance: Normalisation = "ratio"
    """N: how a relevance becomes a share."""
    rubrics_per_call: PositiveInt = 1
    keywords_per_call: PositiveInt = 1
    domains: dict[DomainCode, str] = Field(default_factory=dict)
    """Names of the codes that uids begin with; a code without one is its own name. Read when
    entries are imported, and no part of a verdict."""

    @property
    def boost_weights(self) -> BoostWeights:
        return BoostWeights(self.boost_most, self.boost_exact, self.boost_host)


class KeywordRule(NamedTuple):
    """How keywords count: all that the paper leaves open."""

    focus_epsilon: float
    deviation_epsilon: float
    relevance: Normalisation
    counted: str = FREQUENCY
    """The step whose counts are taken."""


def keyword_rule(parameters: RigorousParameters) -> KeywordRule:
    """As it is configured."""
    return KeywordRule(parameters.focus_epsilon, parameters.deviation_epsilon, parameters.relevance)


def other_rules(parameters: RigorousParameters) -> dict[str, KeywordRule]:
    """What else it could be set to, by the end of a metric's name: other thresholds, the other
    normalisation, and all as in the authors' notebook."""
    own = keyword_rule(parameters)
    other: Normalisation = "linear" if own.relevance == "ratio" else "ratio"
    return {
        **{f"eps{n}": own._replace(focus_epsilon=n, deviation_epsilon=n) for n in EPSILONS},
        "other_norm": own._replace(relevance=other),
        "code": KeywordRule(*CODE_EPSILONS, "ratio", OCCURRENCES),
    }
