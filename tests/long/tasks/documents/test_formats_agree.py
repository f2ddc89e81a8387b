"""Published reports as .html, .docx and .pdf give the claims and addresses that .md gives."""

from pathlib import Path

import pytest

from tests.rigs import report_formats
from tests.rigs.report_formats import EDITION, FLOORS, Compared, compare_all, missing

pytestmark = [
    pytest.mark.rig,
    pytest.mark.published,
    pytest.mark.skipif(bool(missing()), reason=str(missing())),
    pytest.mark.skipif(not EDITION.exists(), reason="../shared is not here"),
]


def test_two_reports_agree_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [r for r in report_formats.REPORTS if r[1] == "2010_NFC_Championship_Game"]
    monkeypatch.setattr(report_formats, "REPORTS", tuple(chosen))
    found = compare_all(EDITION, tmp_path)
    for name, reports in found.items():
        total = sum(reports.values(), Compared())
        assert total.claims.n_expected > 200
        for share in (total.claims, total.pairs, total.urls):
            assert (share.f1 or 0.0) >= FLOORS[name], name
