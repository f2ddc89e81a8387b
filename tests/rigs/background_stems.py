"""Count the stems of the shared articles and reports: the offline judge's fixed background."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tasks.judges.offline.weights import STEMS_FILE, UNLISTED_COUNT, load_background
from tasks.judges.text import extract_terms, strip_markdown
from tests.rigs.shared_edition import SharedEdition

LEAST_SUBJECTS = 3
"""Articles or questions: the words of one article and its eight reports are no common words."""
HEADER = """\
# How many documents of the shared data hold a stem, written by
# `python -m tests.rigs.fit_offline_judge DATA --write`: the number of documents, then the stems of
# at least ten documents about three subjects. Other counts make another offline judge.
"""


def format_stems(data: Path, edition: SharedEdition) -> str:
    """Return the table of stems, as its file holds it."""
    documents = list(_list_documents(data, edition))
    counts: Counter[str] = Counter()
    subjects = defaultdict(set)
    for subject, text in documents:
        stems = set(extract_terms(strip_markdown(text)))
        counts.update(stems)
        for stem in stems:
            subjects[stem].add(subject)
    lines = [
        f"{stem} {count}"
        for stem, count in sorted(counts.items())
        if count >= UNLISTED_COUNT and len(subjects[stem]) >= LEAST_SUBJECTS
    ]
    return HEADER + "\n".join([str(len(documents)), *lines]) + "\n"


def write_stems(data: Path, edition: SharedEdition) -> None:
    """Replace the table; the judges of this process read it again."""
    STEMS_FILE.write_text(format_stems(data, edition), "utf-8")
    load_background.cache_clear()


def _list_documents(data: Path, edition: SharedEdition) -> Iterator[tuple[str, str]]:
    """Yield subject and text of every document that has a text."""
    for name, article in edition.articles.items():
        yield name, article.text
    for report in edition.reports:
        if report.text.strip():
            yield report.article, report.text
    for line in (data / "calibration" / "reports.jsonl").read_text("utf-8").splitlines():
        recorded = json.loads(line)
        yield f"question {recorded['question']}", recorded["report"]
