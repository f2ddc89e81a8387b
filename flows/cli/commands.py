"""The commands of `evergreen`, by panel of the help.

This module imports no command, so that help, completion and mistyped names respond at once. A new
command is a function in a module of its kind, whose docstring is its help, and an entry here with
an example.
"""

from collections.abc import Mapping

from flows.cli.lazy_commands import CommandEntry, GroupEntry

IMPORTS = GroupEntry(
    "Import published editions, and reports or answers that you have.",
    {
        "wlc": CommandEntry(
            "flows.cli.import_queries:import_wlc", "evergreen import wlc wlc/2025_Mar_Nov"
        ),
        "reports": CommandEntry(
            "flows.cli.import_reports:import_report_files",
            "evergreen import reports reports/mine --agent mine --edition 2026-11",
        ),
        "livedrbench": CommandEntry(
            "flows.cli.import_queries:import_livedrbench",
            "evergreen import livedrbench livedrbench.parquet",
        ),
        "drgym": CommandEntry(
            "flows.cli.import_queries:import_drgym",
            "evergreen import drgym key_point --edition drgym",
        ),
        "drb2": CommandEntry(
            "flows.cli.import_queries:import_drb2",
            "evergreen import drb2 tasks_and_rubrics.jsonl --edition drb2",
        ),
        "drb": CommandEntry(
            "flows.cli.import_queries:import_drb", "evergreen import drb deep_research_bench"
        ),
        "rigorous": CommandEntry(
            "flows.cli.import_queries:import_rigorous",
            "evergreen import rigorous rigorous_bench.json --edition rigorous",
        ),
    },
)

EDITION = GroupEntry(
    "List, show, verify and compare editions.",
    {
        "list": CommandEntry("flows.cli.editions:list_editions", "evergreen edition list"),
        "show": CommandEntry("flows.cli.editions:show", "evergreen edition show 2026-11"),
        "verify": CommandEntry(
            "flows.cli.editions:verify_edition", "evergreen edition verify 2026-11"
        ),
        "drop": CommandEntry("flows.cli.editions:drop", "evergreen edition drop 2026-11"),
        "diff": CommandEntry("flows.cli.editions:diff", "evergreen edition diff 2026-10 2026-11"),
    },
)

DRAFT = GroupEntry(
    "Let a model draft rubrics, and import them once a person has reviewed them.",
    {
        "rubrics": CommandEntry(
            "flows.cli.drafts:draft_rubrics",
            "evergreen draft rubrics --edition 2026-11 --judge gpt-5.5 --to drafts",
        ),
        "import": CommandEntry(
            "flows.cli.drafts:import_reviewed",
            "evergreen draft import drafts/*.yaml --edition 2026-11",
        ),
    },
)

AGENTS = GroupEntry(
    "List the agents; `check` one with a cheap call, see their `jobs`, record a `cost`.",
    {
        "check": CommandEntry("flows.cli.agents:check", "evergreen agents check gemini"),
        "jobs": CommandEntry("flows.cli.agents:jobs", "evergreen agents jobs --state lost"),
        "cost": CommandEntry(
            "flows.cli.agents:cost", "evergreen agents cost by_hand --edition 2026-11 --minutes 10"
        ),
    },
    callback="flows.cli.agents:list_agents",
    example="evergreen agents",
)

PAGES = GroupEntry(
    "Show, export and read the archive of cited pages.",
    {
        "counts": CommandEntry(
            "flows.cli.pages:counts", "evergreen pages counts --edition 2026-11"
        ),
        "references": CommandEntry(
            "flows.cli.pages:references", "evergreen pages references --edition 2026-11"
        ),
        "show": CommandEntry(
            "flows.cli.pages:show",
            "evergreen pages show https://example.org/page --edition 2026-11",
        ),
        "export": CommandEntry(
            "flows.cli.pages:export",
            "evergreen pages export --edition 2026-11 --output 2026-11.warc.gz",
        ),
        "read": CommandEntry("flows.cli.pages:read", "evergreen pages read --edition 2026-11"),
        "walls": CommandEntry(
            "flows.cli.pages:walls", "evergreen pages walls --edition 2025_Mar_Nov"
        ),
    },
)

SANDBOX = GroupEntry(
    "Serve archived pages to agents: search and fetch, also as MCP tools; make a `token` for it.",
    {
        "token": CommandEntry(
            "flows.cli.sandbox:sandbox_token",
            "evergreen sandbox token --edition 2026-11 --assignment Lighthouse --agent mine",
        ),
    },
    callback="flows.cli.sandbox:sandbox",
    example="evergreen sandbox --edition 2026-11",
)

JUDGES = GroupEntry(
    "List the judges; `check` asks one a cheap question.",
    {
        "check": CommandEntry("flows.cli.judges:check", "evergreen judges check gemini-3.8-flash"),
    },
    callback="flows.cli.judges:list_judges",
    example="evergreen judges",
)

ANNOTATE = GroupEntry(
    "Make blinded sheets for people to label, and import them.",
    {
        "make": CommandEntry(
            "flows.cli.annotate:make",
            "evergreen annotate make --edition 2026-11 --kind claims --to sheets",
        ),
        "import": CommandEntry(
            "flows.cli.annotate:import_filled",
            "evergreen annotate import claims.filled.csv --annotator ada",
        ),
    },
)

COMPARE = GroupEntry(
    "Compare agents, protocols, judges, or ways to extract claims.",
    {
        "agents": CommandEntry(
            "flows.cli.compare_agents:compare_in_pairs",
            "evergreen compare agents --edition 2026-11 --protocol wiki_fact",
        ),
        "protocols": CommandEntry(
            "flows.cli.compare_protocols:compare_protocols",
            "evergreen compare protocols --edition 2026-11",
        ),
        "judges": CommandEntry(
            "flows.cli.compare_judges:compare_with_people",
            "evergreen compare judges --edition 2026-11",
        ),
        "extraction": CommandEntry(
            "flows.cli.compare_judges:compare_extraction",
            "evergreen compare extraction --edition 2025_Mar_Nov",
        ),
    },
)

EXPORTS = GroupEntry(
    "Export results in other benchmarks' formats.",
    {
        "drb2": CommandEntry(
            "flows.cli.publish:export_results",
            "evergreen export drb2 --edition drb2 --judge gpt-5.5 --to results",
        ),
    },
)

BACKUP = GroupEntry(
    "Back up a warehouse with its pages and files, as of one moment; `verify`, `restore` one.",
    {
        "verify": CommandEntry("flows.cli.backup:verify_backup", "evergreen backup verify backups"),
        "restore": CommandEntry(
            "flows.cli.backup:restore",
            "evergreen backup restore backups --warehouse restored.duckdb",
        ),
    },
    callback="flows.cli.backup:make",
    example="evergreen backup --to backups --keep 7",
)

PANELS: Mapping[str, Mapping[str, CommandEntry | GroupEntry]] = {
    "Begin": {
        "init": CommandEntry("flows.cli.init:init", "evergreen init my-benchmark"),
        "demo": CommandEntry("flows.cli.evaluate:demo", "evergreen demo"),
        "doctor": CommandEntry("flows.cli.doctor:doctor", "evergreen doctor --offline"),
        "ui": CommandEntry("flows.cli.serve:ui", "evergreen ui --port 4300"),
    },
    "Make an edition": {
        "collect": CommandEntry(
            "flows.cli.editions:collect", "evergreen collect --edition 2026-11 --articles 25"
        ),
        "import": IMPORTS,
        "edition": EDITION,
        "assign": CommandEntry("flows.cli.editions:assign", "evergreen assign --edition 2026-11"),
        "draft": DRAFT,
    },
    "Get reports": {
        "agents": AGENTS,
        "ask": CommandEntry(
            "flows.cli.ask:ask",
            "evergreen ask --agent gemini --edition 2026-11 --first 2 --budget 5",
        ),
        "backfill": CommandEntry(
            "flows.cli.ask:backfill",
            "evergreen backfill --agent gemini --edition 2026-11 --budget 20",
        ),
        "fetch": CommandEntry("flows.cli.pages:fetch", "evergreen fetch --edition 2026-11"),
        "pages": PAGES,
        "sandbox": SANDBOX,
    },
    "Judge": {
        "judges": JUDGES,
        "evaluate": CommandEntry(
            "flows.cli.evaluate:evaluate",
            "evergreen evaluate --edition 2026-11 --judge gemini-3.8-flash --budget 5",
        ),
        "rejudge": CommandEntry(
            "flows.cli.rejudge:rejudge",
            "evergreen rejudge --edition 2026-11 --judge gpt-5.5 --budget 5",
        ),
        "annotate": ANNOTATE,
    },
    "Read results": {
        "leaderboard": CommandEntry(
            "flows.cli.leaderboard:leaderboard", "evergreen leaderboard --edition 2026-11"
        ),
        "status": CommandEntry("flows.cli.status:status", "evergreen status"),
        "explain": CommandEntry(
            "flows.cli.explain:explain", "evergreen explain sample_blogger/Eddystone_Lighthouse"
        ),
        "compare": COMPARE,
        "analyse": CommandEntry(
            "flows.cli.analyse:analyse", "evergreen analyse --edition 2026-11 --only difficulty"
        ),
        "calls": CommandEntry(
            "flows.cli.calls:calls",
            "evergreen calls --by agent --edition 2026-11 --protocol wiki_fact",
        ),
        "sql": CommandEntry(
            "flows.cli.sql:sql",
            'evergreen sql "SELECT agent, count(*) FROM reports GROUP BY agent"',
            # SQL may begin with a comment, which looks like an option.
            {"ignore_unknown_options": True},
        ),
        "schema": CommandEntry("flows.cli.sql:schema", "evergreen schema reports"),
        "protocols": CommandEntry(
            "flows.cli.protocols:list_protocols", "evergreen protocols wiki_fact"
        ),
    },
    "Publish": {
        "publish": CommandEntry(
            "flows.cli.publish:publish", "evergreen publish --edition 2026-11 --to site"
        ),
        "export": EXPORTS,
    },
    "Operate": {
        "refresh": CommandEntry("flows.cli.refresh:refresh", "evergreen refresh --dry-run"),
        "serve": CommandEntry("flows.cli.serve:serve", "evergreen serve --only refresh"),
        "backup": BACKUP,
        "compact": CommandEntry("flows.cli.compact:compact", "evergreen compact --keep-days 7"),
    },
}
