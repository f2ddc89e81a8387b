"""How rare a stem is in a fixed background of texts, whatever text is being judged.

The table counts the documents of the shared edition (articles and reports) that hold a stem. Only
stems of several subjects are listed: a stem of one subject, like one that the background has never
seen, counts as rare. `python -m tests.rigs.fit_offline_judge` writes the table.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from math import log
from pathlib import Path

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import find_file

STEMS_FILE = find_file("judges/offline_stems.txt")
UNLISTED_COUNT = 10
"""Documents that a stem outside the table is taken to stand in: the fewest of a listed one."""


@dataclass(frozen=True, slots=True)
class Background:
    """Document counts of stems, with the sha-256 of their file."""

    n_documents: int
    counts: dict[str, int]
    sha: str

    def idf(self, stem: str) -> float:
        """Return the inverse document frequency of a stem, above 0."""
        count = self.counts.get(stem, UNLISTED_COUNT)
        return log(1 + (self.n_documents - count + 0.5) / (count + 0.5))


@lru_cache(maxsize=4)
def load_background(path: Path = STEMS_FILE) -> Background:
    """Read the table: the number of documents, then a line `stem count` for each stem.

    Raises:
        ConfigurationError: the file is missing or malformed.
    """
    try:
        content = path.read_bytes()
        lines = [line for line in content.decode().splitlines() if not line.startswith("#")]
        counts = {stem: int(count) for stem, count in map(str.split, lines[1:])}
        return Background(int(lines[0]), counts, sha256(content).hexdigest())
    except (OSError, ValueError, IndexError) as error:
        raise ConfigurationError(
            f"{path}: expected a number of documents and lines `stem count` ({error}). Restore the "
            "file from the project's configs/judges."
        ) from None
