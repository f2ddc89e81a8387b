"""The commands of `evergreen`, by panel of the help.

This module imports no command, so that help, completion and mistyped names respond at once. A new
command is a function in a module of its kind, and an entry here.
"""

from collections.abc import Mapping

from flows.cli.groups import (
    AGENTS,
    ANNOTATE,
    BACKUP,
    DRAFT,
    EDITION,
    EXPORTS,
    IMPORTS,
    JUDGES,
    KEYS,
    PAGES,
)
from flows.cli.lazy_commands import CommandEntry, GroupEntry

PANELS: Mapping[str, Mapping[str, CommandEntry | GroupEntry]] = {
    "Begin": {
        "init": CommandEntry(
            "flows.cli.init:init",
            "Make a project of your own: configurations to edit, .gitignore and .env.example.",
        ),
        "demo": CommandEntry(
            "flows.cli.evaluate:demo",
            "Run everything on the bundled sample edition: no key, no network.",
        ),
        "doctor": CommandEntry(
            "flows.cli.doctor:doctor",
            "Check everything that can go wrong, and say what to do about it.",
        ),
        "ui": CommandEntry(
            "flows.cli.serve:ui",
            "Serve the Prefect UI with this project's runs until Ctrl-C.",
        ),
    },
    "Make an edition": {
        "collect": CommandEntry(
            "flows.cli.editions:collect",
            "Make and freeze an edition of new Good Articles; a frozen one is verified instead.",
        ),
        "import": IMPORTS,
        "edition": EDITION,
        "assign": CommandEntry(
            "flows.cli.editions:assign",
            "Make an edition's assignments: to write each article, or to answer questions about "
            "it.",
        ),
        "draft": DRAFT,
    },
    "Get reports and the pages they cite": {
        "agents": AGENTS,
        "ask": CommandEntry(
            "flows.cli.ask:ask",
            "Get an edition's pending reports from agents; nothing is bought twice.",
        ),
        "backfill": CommandEntry(
            "flows.cli.ask:backfill",
            "Add an agent to editions: get its reports and the pages they cite, judge its cells, "
            "rank.",
        ),
        "fetch": CommandEntry(
            "flows.cli.pages:fetch",
            "Fetch every page that an edition's reports cite, once, into the archive.",
        ),
        "pages": PAGES,
        "sandbox": CommandEntry(
            "flows.cli.sandbox:sandbox",
            "Serve archived pages to agents: search and fetch, also as MCP tools.",
        ),
        "sandbox-token": CommandEntry(
            "flows.cli.sandbox_token:sandbox_token",
            "Make a token for the sandbox, for an agent that Evergreen does not ask itself.",
            at_once=True,
        ),
    },
    "Judge": {
        "judges": JUDGES,
        "estimate": CommandEntry(
            "flows.cli.estimate:estimate",
            "Estimate the calls, tokens and dollars of an evaluation; nothing is spent.",
        ),
        "evaluate": CommandEntry(
            "flows.cli.evaluate:evaluate",
            "Judge, score and rank what is pending; a second run does nothing.",
        ),
        "rejudge": CommandEntry(
            "flows.cli.rejudge:rejudge",
            "Judge the same reports with another judge; show their agreement and what changes.",
        ),
        "calls": CommandEntry(
            "flows.cli.calls:calls",
            "Show the ledger of calls to models: requests, answers, tokens, time and costs.",
        ),
        "tokens": CommandEntry(
            "flows.cli.breakdown:tokens",
            "Show the calls, tokens and dollars of judging by agent, report or batch.",
        ),
        "annotate": ANNOTATE,
        "agreement": CommandEntry(
            "flows.cli.annotate:agreement",
            "Show judges' agreement with each other and with people, and their costs per article.",
        ),
    },
    "Look at it": {
        "leaderboard": CommandEntry(
            "flows.cli.leaderboard:leaderboard",
            "Show an edition's leaderboard; JSON and CSV have every metric, as shares 0-1.",
        ),
        "status": CommandEntry(
            "flows.cli.status:status",
            "Count what is done, pending and failed per stage, for one judge.",
        ),
        "explain": CommandEntry(
            "flows.cli.explain:explain",
            "Show what a report's scores rest on: each claim and fact with verdict, evidence and "
            "page.",
        ),
        "breakdown": CommandEntry(
            "flows.cli.breakdown:breakdown",
            "Show agents' figures by language or theme of the tasks, with the reports they rest "
            "on.",
        ),
        "differences": CommandEntry(
            "flows.cli.differences:print_differences",
            "Compare agents in pairs by a metric: difference, significance, number of articles.",
        ),
        "compare": CommandEntry(
            "flows.cli.compare:compare_protocols",
            "Compare protocols on the same reports: agents by metrics, and which metrics agree.",
        ),
        "compare-extraction": CommandEntry(
            "flows.cli.compare_extraction:compare_extraction",
            "Compare published claims with those extracted offline from the same reports.",
        ),
        "analyse": CommandEntry(
            "flows.cli.analyse:analyse",
            "Analyse difficulty per category and its correlates, agents by category, leakage, "
            "conflict, cost, and figures over time.",
        ),
        "sql": CommandEntry(
            "flows.cli.sql:sql",
            "Run a read-only SQL query on the warehouse; while a flow runs, on its last export.",
            # SQL may begin with a comment, which looks like an option.
            {"ignore_unknown_options": True},
        ),
        "protocols": CommandEntry(
            "flows.cli.protocols:list_protocols",
            "Describe the protocols, or how one defines its metrics and differs from its paper.",
        ),
        "schema": CommandEntry(
            "flows.cli.schema:schema",
            "Describe the warehouse's tables and views, or the columns of one.",
        ),
    },
    "Publish": {
        "publish": CommandEntry(
            "flows.cli.publish:publish",
            "Write an edition's results as a static site with leaderboard, evidence and data.",
            at_once=True,
        ),
        "export": EXPORTS,
        "keys": KEYS,
    },
    "Operate": {
        "refresh": CommandEntry(
            "flows.cli.refresh:refresh",
            "Collect a month's edition, get its reports, judge and publish them: all that is "
            "pending.",
        ),
        "serve": CommandEntry(
            "flows.cli.serve:serve",
            "Serve the flows as deployments: by schedule (configs/refresh.yaml), or from the "
            "Prefect UI.",
        ),
        "audit": CommandEntry(
            "flows.cli.audit:audit",
            "List who changed the warehouse, when, by which command or run, and how it ended.",
        ),
        "backup": BACKUP,
        "restore": CommandEntry(
            "flows.cli.backup:restore",
            "Restore a warehouse from a backup, as a file or as a lake.",
            at_once=True,
        ),
        "compact": CommandEntry(
            "flows.cli.compact:compact",
            "Merge a lake's small files, expire its earlier states, delete unused files.",
            at_once=True,
        ),
    },
}
