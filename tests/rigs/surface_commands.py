"""What same_surface runs: commands that read, and those that write files to compare.

A line is typed as in a shell, without `evergreen`; variables may come first. ` *` at its end
stands for each format (table, JSON, CSV), ` +` for table and JSON. $MONTH and $REPORTS are those
of this module. Commands run in the folder with the warehouses, beside `code`; `operator` is a
folder of configurations that name one.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

FORMATS = {"*": ("table", "json", "csv"), "+": ("table", "json")}
OPERATOR = "operator"
MONTH = "--edition 2026-10 --since 2026-09-01 --until 2026-09-30"
REPORTS = "../code/data/sample/test_data/sample_blogger/md_data"
WRITTEN = "written"
"""The folder for what commands write."""


@dataclass(frozen=True)
class Session:
    """Commands that run one after the other on one warehouse."""

    name: str
    warehouse: str
    """Its name, also of a copy that the session may change."""
    lines: str
    copied_from: str | None = None

    def commands(self) -> Iterator[list[str]]:
        """Yield each command's words, variables first."""
        lines = self.lines.replace("$MONTH", MONTH).replace("$REPORTS", REPORTS)
        for line in lines.strip().splitlines():
            words = shlex.split(line, comments=True)
            if line.strip() == "evergreen":
                yield []
            elif words and words[-1] in FORMATS:
                yield from ([*words[:-1], "--format", form] for form in FORMATS[words[-1]])
            elif words:
                yield words


PLAIN = Session(
    "plain", "none", r"""
    evergreen
    --version
    agents *
    judges *
    protocols *
    protocols wiki_fact
    protocols claim_discovery
    protocols rigorous
    protocols nothing
    schema *
    schema reports
    schema nothing
    init written/project
    doctor --offline +
    refresh --dry-run $MONTH +
    EVERGREEN_CONFIGS=operator refresh --dry-run $MONTH +
    EVERGREEN_CONFIGS=nowhere agents
    EVERGREEN_SIGNING_KEY=nowhere.key judges
    statsu
    --wharehouse none.duckdb status
    --quiet status
    --log-level loud status
    status
    leaderboard
    evaluate
    publish --edition sample --to written/site
    edition
    edition list
    import
    import wlc nowhere
    import drb2 nowhere
    compare
    annotate
    backup verify nowhere
    backup restore nowhere --warehouse other.duckdb
    agents chek
    agents check nobody
    judges check nobody
    collect --edition 2026-10 --since 2026-13-01
    collect $MONTH
    ask --agent nobody
    serve --only nothing
    """)  # fmt: skip

SAMPLE = Session(
    "sample", "sample", r"""
    evergreen
    status *
    status --judge gpt-5.5
    status --judge nobody
    status --edition nothing
    status --formatt json
    status --format yaml
    leaderboard *
    leaderboard --edition sample --protocol wiki_fact *
    leaderboard --protocol nothing
    leaderboard --judge nobody
    leaderboard --by theme
    explain sample_blogger/Eddystone_Lighthouse +
    explain sample_scholar/Mercury_(planet) --edition sample --protocol wiki_fact +
    explain 'sample_sketch/Falkirk Wheel' --protocol wiki_writing +
    explain sample_lecturer/Surtsey --claim 1 +
    explain sample_lecturer/Surtsey --fact 1 +
    explain sample_lecturer/Surtsey --claim 999
    explain sample_sketch +
    explain sample_sketch --open
    explain nobody/Surtsey
    compare agents *
    compare agents --protocol wiki_writing --agent sample_blogger --agent sample_scholar +
    compare agents --metric nothing
    compare judges *
    compare protocols *
    compare protocols --over reports +
    compare extraction +
    analyse +
    analyse --only nothing
    analyse --output written/analyses.csv
    calls *
    calls --by agent +
    calls --by protocol
    calls --status refused
    edition list
    edition show sample *
    edition show nothing
    edition verify sample
    edition diff sample sample
    edition drop nothing
    pages counts *
    pages references +
    pages walls +
    pages show https://example.org/nothing
    pages export --output written/pages.jsonl.gz
    pages read
    agents jobs +
    agents jobs --state lost
    sql "SELECT agent, count(*) AS n FROM reports GROUP BY agent ORDER BY agent" *
    sql "SELECT metric, min(value), max(value) FROM scores GROUP BY ALL ORDER BY 1" *
    sql "DELETE FROM reports"
    sql "SELECT nothing FROM reports"
    sql "SELECT"
    evaluate --estimate
    evaluate --estimate --judge gpt-5.5 *
    evaluate --estimate --judge gpt-5.5 --extract-again
    evaluate --estimate --judge gpt-5.5 --protocol race --budget 1
    evaluate --estimate --judge nobody
    evaluate --judge gpt-5.5
    evaluate --agent nobody
    evaluate --edition nothing
    evaluate --protocol research_gym
    evaluate --edition sample *
    rejudge --edition sample --judge offline +
    ask --agent gemini_deep_research --estimate *
    ask --agent gemini_deep_research
    ask --agent sample_blogger
    backfill --agent gemini_deep_research --estimate *
    backfill --agent nobody --estimate
    import wlc ../code/data/sample --edition sample
    import reports $REPORTS --agent mine --edition sample --dry-run
    import reports $REPORTS --agent mine --edition sample
    refresh --dry-run $MONTH +
    EVERGREEN_CONFIGS=operator refresh --dry-run $MONTH +
    EVERGREEN_CONFIGS=operator refresh --dry-run --edition sample +
    doctor --offline +
    doctor --offline --deep --edition sample
    annotate make --edition sample --kind claims --items 20 --seed 1 --to written/sheets
    export drb2 --edition sample --judge offline --to written/drb2-sample
    publish --edition sample --to written/site-sample
    publish --edition sample --snapshots whole --to written/site-whole
    publish --edition sample --judge nobody --to written/site-nobody
    publish --edition sample --to ../code
    keys verify written/site-sample
    backup --to backups
    backup verify backups +
    backup restore backups --warehouse restored.duckdb
    compact
    """)  # fmt: skip

JUDGED = Session(
    "judged", "judged", r"""
    evergreen
    status *
    status --edition sample --judge local *
    status --edition gym --judge local *
    status --edition bench --judge local
    status --edition rigor --judge local
    leaderboard --edition sample +
    leaderboard --edition gym *
    leaderboard --edition bench *
    leaderboard --edition rigor *
    leaderboard --edition bench --by theme *
    leaderboard --edition rigor --by theme
    explain sample_blogger/Eddystone_Lighthouse --edition sample +
    explain thorough/harbour --edition gym +
    explain terse/viaduct --edition bench +
    explain terse/viaduct --edition rigor +
    explain thorough --edition gym +
    compare agents --edition sample --judge local *
    compare agents --edition gym --judge local *
    compare agents --edition bench --judge local +
    compare agents --edition rigor --judge local +
    compare judges --edition sample *
    compare agents --edition sample
    compare protocols --edition sample --judge local *
    analyse --edition sample --judge local +
    analyse --edition gym --judge local *
    analyse --edition bench --judge local +
    analyse --edition rigor --judge local *
    calls *
    calls --edition sample --by agent *
    calls --edition gym --by agent +
    calls --step research_gym/rate_report
    calls --output written/calls.jsonl
    edition list *
    edition show gym
    edition show rigor
    edition verify gym
    edition diff gym bench
    pages counts --edition gym *
    pages references --edition gym --judge local +
    pages show https://holds.example.org/a --edition gym --whole
    evaluate --edition gym --judge local *
    evaluate --edition gym --judge gpt-5.5 --estimate *
    evaluate --edition bench --judge gpt-5.5 --estimate
    evaluate --edition rigor --judge gpt-5.5 --estimate
    doctor --offline +
    annotate make --edition sample --kind claims --items 10 --seed 1 --to written/sheets-judged
    publish --edition sample --to written/site-judged
    publish --edition gym --to written/site-gym
    publish --edition bench --to written/site-bench
    publish --edition rigor --to written/site-rigor
    """)  # fmt: skip

REJUDGED = Session(
    "rejudged", "rejudged", r"""
    rejudge --edition sample --judge local --against offline --budget 5 --agent sample_blogger
    rejudge --edition sample --judge local --against offline --budget 5
    rejudge --edition sample --judge local --against offline +
    rejudge --edition sample --judge nobody
    status *
    leaderboard *
    compare judges *
    compare protocols
    explain sample_blogger/Eddystone_Lighthouse +
    analyse *
    assign --edition sample --protocol claim_discovery --judge local --articles 2 --budget 1
    edition show sample
    publish --edition sample --to written/site-rejudged
    edition drop sample
    """, copied_from="sample")  # fmt: skip

DEMO = Session(
    "demo", "demo", r"""
    demo
    demo
    evergreen
    """)  # fmt: skip

PUBLISHED = Session(
    "published", "published", r"""
    status
    leaderboard *
    analyse *
    publish --edition published --to written/site-published
    """)  # fmt: skip


def sessions(published: bool) -> list[Session]:
    """Return all sessions, those that take longest first."""
    return [
        *([PUBLISHED] if published else []),
        SAMPLE, JUDGED, REJUDGED, PLAIN, DEMO,
    ]  # fmt: skip
