"""The settings of problem inversion: the published admission, and no senseless bounds."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import PACKAGED
from tasks.configuration.inversion import load_inversion


def test_the_shipped_admission_is_the_published_one() -> None:
    shipped = load_inversion()
    assert (shipped.queries_least, shipped.units_about, shipped.minutes_above) == (10, 20, 10)
    assert shipped.units_least == 15
    assert shipped.least_properties >= 3


def with_changes(folder: Path, **changes: Any) -> Path:
    content = yaml.safe_load((PACKAGED / "inversion.yaml").read_text("utf-8")) | changes
    (folder / "inversion.yaml").write_text(yaml.safe_dump(content), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"most_ngram_share": 1.1}, "most_ngram_share"),
        ({"mirror_share": 0}, "mirror_share"),
        ({"question_words": {"least": 9, "most": 3}}, "least ≤ most; found 9 and 3"),
        ({"properties_at_first": 9}, "at most least_properties"),
        ({"units_tolerance": -1}, "units_tolerance"),
        ({"more": 1}, "unknown key `more`"),
        ({"pose_rounds": 0}, "pose_rounds"),
    ],
)
def test_a_senseless_bound_is_named(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=rf"inversion\.yaml.*{says}"):
        load_inversion(with_changes(tmp_path, **changes))


def test_another_bound_makes_other_questions_and_another_lot_does_not(tmp_path: Path) -> None:
    before = load_inversion().sha
    assert load_inversion(with_changes(tmp_path, seed=1)).sha == before
    assert load_inversion(with_changes(tmp_path, pages_per_question=9)).sha != before
