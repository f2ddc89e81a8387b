"""The commands of `evergreen`, by panel of the help.

This module imports no command, so that help, completion and mistyped names respond at once. A new
command is a function in a module of its kind, and an entry here.
"""

from collections.abc import Mapping

from flows.cli.groups import (
    AGENTS,
    ANNOTATE,
    BACKUP,
    COMPARE,
    DRAFT,
    EDITION,
    EXPORTS,
    IMPORTS,
    JUDGES,
    KEYS,
    PAGES,
    SANDBOX,
)
from flows.cli.lazy_commands import CommandEntry, GroupEntry

PANELS: Mapping[str, Mapping[str, CommandEntry | GroupEntry]] = {
    "Begin": {
        "init": CommandEntry(
            "flows.cli.init:init",
            "Make a project of your own: configurations to edit, .gitignore and .env.example.",
            "evergreen init my-benchmark",
        ),
        "demo": CommandEntry(
            "flows.cli.evaluate:demo",
            "Run everything on the bundled sample edition: no key, no network.",
            "evergreen demo",
        ),
        "doctor": CommandEntry(
            "flows.cli.doctor:doctor",
            "Check everything that can go wrong, and say what to do about it.",
            "evergreen doctor --offline",
        ),
        "ui": CommandEntry(
            "flows.cli.serve:ui",
            "Serve the Prefect UI with this project's runs until Ctrl-C.",
            "evergreen ui --port 4300",
        ),
    },
    "Make an edition": {
        "collect": CommandEntry(
            "flows.cli.editions:collect",
            "Make and freeze an edition of new Good Articles; a frozen one is verified instead.",
            "evergreen collect --edition 2026-11 --articles 25",
        ),
        "import": IMPORTS,
        "edition": EDITION,
        "assign": CommandEntry(
            "flows.cli.editions:assign",
            "Make an edition's assignments: to write each article, or to answer questions about "
            "it.",
            "evergreen assign --edition 2026-11",
        ),
        "draft": DRAFT,
    },
    "Get reports": {
        "agents": AGENTS,
        "ask": CommandEntry(
            "flows.cli.ask:ask",
            "Get an edition's pending reports from agents; nothing is bought twice.",
            "evergreen ask --agent gemini --edition 2026-11 --first 2 --budget 5",
        ),
        "backfill": CommandEntry(
            "flows.cli.ask:backfill",
            "Add agents to editions: get their reports and the pages they cite, judge their cells, "
            "rank.",
            "evergreen backfill --agent gemini --edition 2026-11 --budget 20",
        ),
        "fetch": CommandEntry(
            "flows.cli.pages:fetch",
            "Fetch every page that an edition's reports cite, once, into the archive.",
            "evergreen fetch --edition 2026-11",
        ),
        "pages": PAGES,
        "sandbox": SANDBOX,
    },
    "Judge": {
        "judges": JUDGES,
        "evaluate": CommandEntry(
            "flows.cli.evaluate:evaluate",
            "Judge, score and rank what is pending; a second run does nothing.",
            "evergreen evaluate --edition 2026-11 --judge gemini-3.8-flash --budget 5",
        ),
        "rejudge": CommandEntry(
            "flows.cli.rejudge:rejudge",
            "Judge the same reports with another judge; show their agreement and what changes.",
            "evergreen rejudge --edition 2026-11 --judge gpt-5.5 --budget 5",
        ),
        "annotate": ANNOTATE,
    },
    "Read results": {
        "leaderboard": CommandEntry(
            "flows.cli.leaderboard:leaderboard",
            "Show an edition's leaderboard; JSON and CSV have every metric, as shares 0-1.",
            "evergreen leaderboard --edition 2026-11",
        ),
        "status": CommandEntry(
            "flows.cli.status:status",
            "Count what is done, pending and failed per stage, for one judge.",
            "evergreen status",
        ),
        "explain": CommandEntry(
            "flows.cli.explain:explain",
            "Show what a report's scores rest on: each claim and fact with verdict, evidence and "
            "page.",
            "evergreen explain sample_blogger/Eddystone_Lighthouse",
        ),
        "compare": COMPARE,
        "analyse": CommandEntry(
            "flows.cli.analyse:analyse",
            "Analyse difficulty per category and its correlates, agents by category, leakage, "
            "conflict, cost, and figures over time.",
            "evergreen analyse --edition 2026-11 --only difficulty",
        ),
        "calls": CommandEntry(
            "flows.cli.calls:calls",
            "Show the ledger of calls to models: requests, answers, tokens, time and costs.",
            "evergreen calls --by agent --edition 2026-11 --protocol wiki_fact",
        ),
        "sql": CommandEntry(
            "flows.cli.sql:sql",
            "Run a read-only SQL query on the warehouse; while a flow runs, on its last export.",
            'evergreen sql "SELECT agent, count(*) FROM reports GROUP BY agent"',
            # SQL may begin with a comment, which looks like an option.
            {"ignore_unknown_options": True},
        ),
        "schema": CommandEntry(
            "flows.cli.sql:schema",
            "Describe the warehouse's tables and views, or the columns of one.",
            "evergreen schema reports",
        ),
        "protocols": CommandEntry(
            "flows.cli.protocols:list_protocols",
            "Describe the protocols, or how one defines its metrics and differs from its paper.",
            "evergreen protocols wiki_fact",
        ),
    },
    "Publish": {
        "publish": CommandEntry(
            "flows.cli.publish:publish",
            "Write an edition's results as a static site with leaderboard, evidence and data.",
            "evergreen publish --edition 2026-11 --to site",
        ),
        "export": EXPORTS,
        "keys": KEYS,
    },
    "Operate": {
        "refresh": CommandEntry(
            "flows.cli.refresh:refresh",
            "Collect a month's edition, get its reports, judge and publish them: all that is "
            "pending.",
            "evergreen refresh --dry-run",
        ),
        "serve": CommandEntry(
            "flows.cli.serve:serve",
            "Serve the flows as deployments: by schedule (configs/refresh.yaml), or from the "
            "Prefect UI.",
            "evergreen serve --only refresh",
        ),
        "backup": BACKUP,
        "compact": CommandEntry(
            "flows.cli.compact:compact",
            "Merge a lake's small files, expire its earlier states, delete unused files.",
            "evergreen compact --keep-days 7",
        ),
    },
}
