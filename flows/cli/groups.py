"""Groups of commands, such as `evergreen pages show`: a part of the table in commands.py."""

from flows.cli.lazy_commands import CommandEntry, GroupEntry

IMPORTS = GroupEntry(
    "Import published editions, and reports or answers that you have.",
    {
        "wlc": CommandEntry(
            "flows.cli.import_queries:import_wlc",
            "Import an edition in the published Wiki Live Challenge layout; idempotent.",
            "evergreen import wlc wlc/2025_Mar_Nov",
        ),
        "reports": CommandEntry(
            "flows.cli.import_reports:import_report_files",
            "Import reports, or answers to questions, from files; idempotent.",
            "evergreen import reports reports/mine --agent mine --edition 2026-11",
        ),
        "livedrbench": CommandEntry(
            "flows.cli.import_queries:import_livedrbench",
            "Import questions in LiveDRBench's published format; idempotent.",
            "evergreen import livedrbench livedrbench.parquet",
        ),
        "drgym": CommandEntry(
            "flows.cli.import_queries:import_drgym",
            "Import DeepResearchGym's queries with their key points; idempotent.",
            "evergreen import drgym key_point --edition drgym",
        ),
        "drb2": CommandEntry(
            "flows.cli.import_queries:import_drb2",
            "Import DeepResearch Bench II's tasks with their rubrics; idempotent.",
            "evergreen import drb2 tasks_and_rubrics.jsonl --edition drb2",
        ),
        "drb": CommandEntry(
            "flows.cli.import_queries:import_drb",
            "Import DeepResearch Bench's tasks, criteria and references; idempotent.",
            "evergreen import drb deep_research_bench",
        ),
        "rigorous": CommandEntry(
            "flows.cli.import_queries:import_rigorous",
            "Import queries in Rigorous Bench's published format; idempotent.",
            "evergreen import rigorous rigorous_bench.json --edition rigorous",
        ),
    },
)

EDITION = GroupEntry(
    "List, show, verify and compare editions.",
    {
        "list": CommandEntry(
            "flows.cli.editions:list_editions",
            "List the editions, collected and imported.",
            "evergreen edition list",
        ),
        "show": CommandEntry(
            "flows.cli.editions:show",
            "Show a frozen edition; JSON is its whole manifest.",
            "evergreen edition show 2026-11",
        ),
        "verify": CommandEntry(
            "flows.cli.editions:verify_edition",
            "Compare every text, link and decision of a frozen edition with its manifest.",
            "evergreen edition verify 2026-11",
        ),
        "drop": CommandEntry(
            "flows.cli.editions:drop",
            "Drop a collection that is not frozen, so that its name is free again.",
            "evergreen edition drop 2026-11",
        ),
        "diff": CommandEntry(
            "flows.cli.editions:diff",
            "Show the differences of two frozen editions.",
            "evergreen edition diff 2026-10 2026-11",
        ),
    },
)

DRAFT = GroupEntry(
    "Let a model draft rubrics, and import them once a person has reviewed them.",
    {
        "rubrics": CommandEntry(
            "flows.cli.drafts:draft_rubrics",
            "Draft a bundle of Rigorous Bench for each article: rubrics from its facts, keywords, "
            "links from its references, and a test of difficulty.",
            "evergreen draft rubrics --edition 2026-11 --judge gpt-5.5 --to drafts",
        ),
        "import": CommandEntry(
            "flows.cli.drafts:import_reviewed",
            "Import drafted rubrics that a person has reviewed; idempotent.",
            "evergreen draft import drafts/*.yaml --edition 2026-11",
        ),
    },
)

AGENTS = GroupEntry(
    "List the agents; `check` one with a cheap call, see their `jobs`, record a `cost`.",
    {
        "check": CommandEntry(
            "flows.cli.agents:check",
            "Make one cheap call to an agent, and report what is wrong if it fails.",
            "evergreen agents check gemini",
        ),
        "jobs": CommandEntry(
            "flows.cli.agents:jobs",
            "List the jobs, their states and costs, or show some of them in full.",
            "evergreen agents jobs --state lost",
        ),
        "cost": CommandEntry(
            "flows.cli.agents:cost",
            "Record what it cost people to get reports by hand; replaces earlier entries.",
            "evergreen agents cost by_hand --edition 2026-11 --minutes 10",
        ),
    },
    callback="flows.cli.agents:list_agents",
    example="evergreen agents",
)

PAGES = GroupEntry(
    "Show, export and read the archive of cited pages.",
    {
        "counts": CommandEntry(
            "flows.cli.pages:counts",
            "Count the cited pages by status and by source.",
            "evergreen pages counts --edition 2026-11",
        ),
        "references": CommandEntry(
            "flows.cli.pages:references",
            "Count each agent's claims: uncited, without a page, and what the pages of the others "
            "say.",
            "evergreen pages references --edition 2026-11",
        ),
        "show": CommandEntry(
            "flows.cli.pages:show",
            "Show one page of the archive: its fetches and its text.",
            "evergreen pages show https://example.org/page --edition 2026-11",
        ),
        "export": CommandEntry(
            "flows.cli.pages:export",
            "Write an edition's archive as one file: WARC with bytes and texts, or texts alone.",
            "evergreen pages export --edition 2026-11 --output 2026-11.warc.gz",
        ),
        "read": CommandEntry(
            "flows.cli.pages:read",
            "Extract the texts of all fetched pages again, after a change of the reader; fetches "
            "nothing.",
            "evergreen pages read --edition 2026-11",
        ),
        "walls": CommandEntry(
            "flows.cli.pages:walls",
            "Find walls, such as bot checks, among the page texts that came with a published "
            "edition.",
            "evergreen pages walls --edition 2025_Mar_Nov",
        ),
    },
)

SANDBOX = GroupEntry(
    "Serve archived pages to agents: search and fetch, also as MCP tools; make a `token` for it.",
    {
        "token": CommandEntry(
            "flows.cli.sandbox_token:sandbox_token",
            "Make a token for the sandbox, for an agent that Evergreen does not ask itself.",
            "evergreen sandbox token --edition 2026-11 --assignment Lighthouse --agent mine",
        ),
    },
    callback="flows.cli.sandbox:sandbox",
    example="evergreen sandbox --edition 2026-11",
)

JUDGES = GroupEntry(
    "List the judges; `check` asks one a cheap question.",
    {
        "check": CommandEntry(
            "flows.cli.judges:check",
            "Ask a judge one cheap question, and report what is wrong if it fails.",
            "evergreen judges check gemini-3.8-flash",
        ),
    },
    callback="flows.cli.judges:list_judges",
    example="evergreen judges",
)

ANNOTATE = GroupEntry(
    "Make blinded sheets for people to label, and import them.",
    {
        "make": CommandEntry(
            "flows.cli.annotate:make",
            "Draw a sheet as SHEET.csv and SHEET.html with the same questions; people fill in "
            "either.",
            "evergreen annotate make --edition 2026-11 --kind claims --to sheets",
        ),
        "import": CommandEntry(
            "flows.cli.annotate:import_filled",
            "Check, un-blind and import a filled sheet; importing it again changes nothing.",
            "evergreen annotate import claims.filled.csv --annotator ada",
        ),
    },
)

COMPARE = GroupEntry(
    "Compare agents, protocols, judges, or ways to extract claims.",
    {
        "agents": CommandEntry(
            "flows.cli.compare_agents:compare_in_pairs",
            "Compare agents in pairs by a metric: difference, significance, number of articles.",
            "evergreen compare agents --edition 2026-11 --protocol wiki_fact",
        ),
        "protocols": CommandEntry(
            "flows.cli.compare_protocols:compare_protocols",
            "Compare protocols on the same reports: agents by metrics, and which metrics agree.",
            "evergreen compare protocols --edition 2026-11",
        ),
        "judges": CommandEntry(
            "flows.cli.compare_judges:compare_with_people",
            "Compare judges with each other and with people, and their costs per article.",
            "evergreen compare judges --edition 2026-11",
        ),
        "extraction": CommandEntry(
            "flows.cli.compare_judges:compare_extraction",
            "Compare published claims with those extracted offline from the same reports.",
            "evergreen compare extraction --edition 2025_Mar_Nov",
        ),
    },
)

EXPORTS = GroupEntry(
    "Export results in other benchmarks' formats.",
    {
        "drb2": CommandEntry(
            "flows.cli.publish:export_results",
            "Write DeepResearch Bench II's result.jsonl and its five agg_scores_*.csv.",
            "evergreen export drb2 --edition drb2 --judge gpt-5.5 --to results",
        ),
    },
)

KEYS = GroupEntry(
    "Make keys that sign sites and backups, and verify what was signed.",
    {
        "new": CommandEntry(
            "flows.cli.keys:new",
            "Make a key pair: evergreen.key, which signs, and evergreen.pub, which verifies.",
            "evergreen keys new --to keys",
        ),
        "verify": CommandEntry(
            "flows.cli.keys:verify_folder",
            "Verify a signature, and every file against the signed list; exit code 1 if anything "
            "differs.",
            "evergreen keys verify site -p evergreen.pub",
        ),
    },
)

BACKUP = GroupEntry(
    "Back up a warehouse with its pages and files, as of one moment; `verify`, `restore` one.",
    {
        "verify": CommandEntry(
            "flows.cli.backup:verify_backup",
            "Read a whole backup and compare it with its manifest; exit code 1 if it is damaged.",
            "evergreen backup verify backups",
        ),
        "restore": CommandEntry(
            "flows.cli.backup:restore",
            "Restore a warehouse from a backup, as a file or as a lake.",
            "evergreen backup restore backups --warehouse restored.duckdb",
        ),
    },
    callback="flows.cli.backup:make",
    example="evergreen backup --to backups --keep 7",
)
