"""What a warehouse holds, as Polars frames."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tasks.editions.names import check_edition
from tasks.warehouse.location import DEFAULT_LOCATION, Location, parse_location
from tasks.warehouse.reader import check_exists, open_for_reading

EDITIONS = "SELECT * FROM editions ORDER BY edition"
REPORTS = "SELECT * FROM report_index WHERE edition = $1 ORDER BY agent, assignment"
VERDICTS = """
SELECT * FROM verdicts_explained WHERE edition = $1
ORDER BY protocol, judge, agent, assignment, item
"""
SCORES = """
SELECT * FROM scores WHERE edition = $1 ORDER BY protocol, metric, judge, agent, assignment
"""
LEADERBOARD = """
SELECT * FROM leaderboard WHERE edition = $1
ORDER BY protocol, metric, judge, value DESC NULLS LAST, agent
"""


@dataclass(frozen=True)
class WarehouseResults:
    """The results in a warehouse. Every call reads what is there at that moment, and holds up no
    run; while a run holds the warehouse, its last export is read.

    Shares are 0-1, times are UTC, null is unknown and never 0. `evergreen schema NAME` describes
    the columns.
    """

    location: Location

    def editions(self) -> pl.DataFrame:
        """Return a row for each edition."""
        return self.sql(EDITIONS)

    def reports(self, edition: str) -> pl.DataFrame:
        """Return a row for each report: the view `report_index`.

        Raises:
            UnknownName: there is no such edition.
        """
        return self._of_edition(REPORTS, edition)

    def verdicts(self, edition: str) -> pl.DataFrame:
        """Return a row for each current verdict, with its evidence: `verdicts_explained`."""
        return self._of_edition(VERDICTS, edition)

    def scores(self, edition: str) -> pl.DataFrame:
        """Return a row for each report and metric."""
        return self._of_edition(SCORES, edition)

    def leaderboard(self, edition: str) -> pl.DataFrame:
        """Return a row for each agent, metric and judge, with interval, ranks and counts."""
        return self._of_edition(LEADERBOARD, edition)

    def sql(self, query: str, parameters: Sequence[object] = ()) -> pl.DataFrame:
        """Return the result of a SELECT on tables and views."""
        with open_for_reading(self.location) as source:
            return source.frame(query, parameters)

    def _of_edition(self, query: str, edition: str) -> pl.DataFrame:
        with open_for_reading(self.location) as source:
            check_edition(source, edition)
            return source.frame(query, [edition])


def open_warehouse(where: str = DEFAULT_LOCATION) -> WarehouseResults:
    """Return the results in a warehouse, for reading.

    where: a DuckDB file, or the address of a lake.

    Raises:
        WarehouseError: there is no warehouse.
    """
    location = parse_location(where)
    check_exists(location)
    return WarehouseResults(location)
