"""Every command of `evergreen`, by the part of the help that lists it.

Nothing here imports a command: with this table the help, the completion of a word and a mistyped
name are answered at once. A new command is a function in a module of its kind, and a line here.
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
    PAGES,
)
from flows.cli.lazy import Command, Group

PANELS: Mapping[str, Mapping[str, Command | Group]] = {
    "Begin": {
        "demo": Command(
            "flows.cli.evaluate:demo",
            "Run everything on the bundled sample edition: no key, no network.",
        ),
        "doctor": Command(
            "flows.cli.doctor:doctor",
            "Look at everything that can go wrong, and say what to do about it.",
        ),
        "ui": Command(
            "flows.cli.serve:ui",
            "The Prefect UI over this project's runs, until Ctrl-C.",
        ),
    },
    "Make an edition": {
        "collect": Command(
            "flows.cli.editions:collect",
            "Make an edition of new Good Articles and freeze it; a frozen one is verified instead.",
        ),
        "import": IMPORTS,
        "edition": EDITION,
        "assign": Command(
            "flows.cli.editions:assign",
            "Make what agents are asked, kept for good: to write each article, or questions out "
            "of it.",
        ),
        "draft": DRAFT,
    },
    "Get reports and the pages they cite": {
        "agents": AGENTS,
        "ask": Command(
            "flows.cli.ask:ask",
            "Get the reports of an edition that agents have not written yet; nothing is bought "
            "twice.",
        ),
        "backfill": Command(
            "flows.cli.ask:backfill",
            "Bring an agent into editions: its missing reports, the pages they cite, then only "
            "its cells, then the ranks.",
        ),
        "fetch": Command(
            "flows.cli.pages:fetch",
            "Fetch every page that an edition's reports cite, once, and keep it for ever.",
        ),
        "pages": PAGES,
        "sandbox": Command(
            "flows.cli.sandbox:sandbox",
            "Serve an archive's pages to agents: search, fetch, and both as MCP tools.",
        ),
    },
    "Judge": {
        "judges": JUDGES,
        "estimate": Command(
            "flows.cli.estimate:estimate",
            "Calls, tokens and dollars of an evaluation before anything is spent.",
        ),
        "evaluate": Command(
            "flows.cli.evaluate:evaluate",
            "Judge, score and rank what has not been yet; a second run does nothing.",
        ),
        "rejudge": Command(
            "flows.cli.rejudge:rejudge",
            "Judge the same reports by another judge, and show how far they agree and what "
            "changes.",
        ),
        "calls": Command(
            "flows.cli.calls:calls",
            "The ledger: what was asked, what came back, what it took and cost.",
        ),
        "tokens": Command(
            "flows.cli.breakdown:tokens",
            "What judging took: calls, tokens and dollars by agent, report or batch.",
        ),
        "annotate": ANNOTATE,
        "agreement": Command(
            "flows.cli.annotate:agreement",
            "Agreement of judges with each other and with people, beside dollars per article.",
        ),
    },
    "Look at it": {
        "leaderboard": Command(
            "flows.cli.leaderboard:leaderboard",
            "The leaderboard of an edition; JSON and CSV hold every metric, as shares 0-1.",
        ),
        "status": Command(
            "flows.cli.status:status",
            "What is done, pending and failed, per stage; verdicts and scores of one judge.",
        ),
        "explain": Command(
            "flows.cli.explain:explain",
            "What a report's figures rest on: each claim and fact with its verdict, evidence and "
            "page.",
        ),
        "breakdown": Command(
            "flows.cli.breakdown:breakdown",
            "An agent's figures by language or theme of the tasks, each with the reports it rests "
            "on.",
        ),
        "differences": Command(
            "flows.cli.differences:print_differences",
            "How any two agents differ by a metric: how much, how surely, and on how many "
            "articles.",
        ),
        "compare": Command(
            "flows.cli.compare:compare_protocols",
            "The same reports under all protocols: agents by metrics, and which metrics agree.",
        ),
        "compare-extraction": Command(
            "flows.cli.compare_extraction:compare_extraction",
            "Published claims against those extracted offline from the same reports.",
        ),
        "analyse": Command(
            "flows.cli.analyse:analyse",
            "Difficulty per category and what goes with it, agents over categories, leakage, "
            "conflict, cost, and figures over time.",
        ),
        "sql": Command(
            "flows.cli.sql:sql",
            "Read-only SQL over the warehouse; while a flow runs, over its last export.",
            # SQL may begin with a comment, which looks like an option.
            {"ignore_unknown_options": True},
        ),
        "schema": Command(
            "flows.cli.schema:schema",
            "The tables and views of the warehouse, or the columns of one, with what they mean.",
        ),
    },
    "Publish": {
        "publish": Command(
            "flows.cli.publish:publish",
            "Write an edition's results as a site that needs no server: leaderboard, evidence, "
            "data.",
        ),
        "export": EXPORTS,
    },
    "Operate": {
        "refresh": Command(
            "flows.cli.refresh:refresh",
            "Make a month's edition, have it written, judged and published: all that is still to "
            "be done.",
        ),
        "serve": Command(
            "flows.cli.serve:serve",
            "Serve the flows: by schedule (configs/refresh.yaml), or from the Prefect UI by a "
            "form.",
        ),
        "backup": BACKUP,
        "restore": Command(
            "flows.cli.backup:restore",
            "Make a warehouse what it was when a backup was taken, as a file or as a lake.",
        ),
        "compact": Command(
            "flows.cli.compact:compact",
            "Put a lake's small files together, forget its earlier states, delete what nothing "
            "needs.",
        ),
    },
}
