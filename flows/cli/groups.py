"""Groups of commands, such as `evergreen pages show`: a part of the table in commands.py."""

from flows.cli.lazy_commands import CommandEntry, GroupEntry

IMPORTS = GroupEntry(
    "Import editions, reports and answers.",
    {
        "wlc": CommandEntry(
            "flows.cli.import_wlc:import_wlc",
            "Import an edition in the published Wiki Live Challenge layout; idempotent.",
        ),
        "reports": CommandEntry(
            "flows.cli.import_reports:import_report_files",
            "Import reports from files; idempotent.",
        ),
        "livedrbench": CommandEntry(
            "flows.cli.import_queries:import_livedrbench",
            "Import questions in LiveDRBench's published format; idempotent.",
        ),
        "answers": CommandEntry(
            "flows.cli.import_answers:import_agent_answers",
            "Import one agent's answers to an edition's questions; idempotent.",
        ),
        "drgym": CommandEntry(
            "flows.cli.import_queries:import_drgym",
            "Import DeepResearchGym's queries with their key points; idempotent.",
        ),
        "drb2": CommandEntry(
            "flows.cli.import_queries:import_drb2",
            "Import DeepResearch Bench II's tasks with their rubrics; idempotent.",
        ),
        "deepresearch_bench": CommandEntry(
            "flows.cli.import_queries:import_deepresearch_bench",
            "Import DeepResearch Bench's tasks, criteria and references; idempotent.",
        ),
        "rigorous": CommandEntry(
            "flows.cli.import_queries:import_rigorous",
            "Import queries in Rigorous Bench's published format; idempotent.",
        ),
        "rigorous-draft": CommandEntry(
            "flows.cli.drafts:import_rigorous_draft",
            "Import drafted rubrics that a person has reviewed; idempotent.",
        ),
    },
)

EDITION = GroupEntry(
    "List, show, verify and compare editions.",
    {
        "list": CommandEntry(
            "flows.cli.editions:list_editions",
            "List the editions, collected and imported.",
        ),
        "show": CommandEntry(
            "flows.cli.editions:show",
            "Show a frozen edition; JSON is its whole manifest.",
        ),
        "verify": CommandEntry(
            "flows.cli.editions:verify_edition",
            "Compare every text, link and decision of a frozen edition with its manifest.",
        ),
        "drop": CommandEntry(
            "flows.cli.editions:drop",
            "Drop a collection that is not frozen, so that its name is free again.",
        ),
        "diff": CommandEntry(
            "flows.cli.editions:diff",
            "Show the differences of two frozen editions.",
        ),
    },
)

DRAFT = GroupEntry(
    "Let a model draft rubrics; a person reviews them.",
    {
        "rubrics": CommandEntry(
            "flows.cli.drafts:draft_rubrics",
            "Draft a bundle of Rigorous Bench for each article: rubrics from its facts, keywords, "
            "links from its references, and a test of difficulty.",
        ),
    },
)

AGENTS = GroupEntry(
    "List the agents; `check` one with a cheap call, see their `jobs`, record a `cost`.",
    {
        "check": CommandEntry(
            "flows.cli.agents:check",
            "Make one cheap call to an agent, and report what is wrong if it fails.",
        ),
        "jobs": CommandEntry(
            "flows.cli.agents:jobs",
            "List the jobs, their states and costs, or show some of them in full.",
        ),
        "cost": CommandEntry(
            "flows.cli.agents:cost",
            "Record what it cost people to get reports by hand; replaces earlier entries.",
        ),
    },
    callback="flows.cli.agents:list_agents",
)

PAGES = GroupEntry(
    "Show, export and read the archive of cited pages.",
    {
        "counts": CommandEntry(
            "flows.cli.pages:counts",
            "Count the cited pages by status and by source.",
        ),
        "references": CommandEntry(
            "flows.cli.pages:references",
            "Count each agent's claims: uncited, without a page, and what the pages of the others "
            "say.",
        ),
        "show": CommandEntry(
            "flows.cli.pages:show",
            "Show one page of the archive: its fetches and its text.",
        ),
        "export": CommandEntry(
            "flows.cli.pages:export",
            "Write an edition's archive as one file: WARC with bytes and texts, or texts alone.",
        ),
        "read": CommandEntry(
            "flows.cli.pages:read",
            "Extract the texts of all fetched pages again, after a change of the reader; fetches "
            "nothing.",
        ),
        "walls": CommandEntry(
            "flows.cli.pages:walls",
            "Find walls, such as bot checks, among the page texts that came with a published "
            "edition.",
        ),
    },
)

JUDGES = GroupEntry(
    "List the judges; `check` asks one a cheap question.",
    {
        "check": CommandEntry(
            "flows.cli.judges:check",
            "Ask a judge one cheap question, and report what is wrong if it fails.",
        ),
    },
    callback="flows.cli.judges:list_judges",
)

ANNOTATE = GroupEntry(
    "Make blinded sheets for people to label, and import them.",
    {
        "make": CommandEntry(
            "flows.cli.annotate:make",
            "Draw a sheet as SHEET.csv and SHEET.html with the same questions; people fill in "
            "either.",
        ),
        "import": CommandEntry(
            "flows.cli.annotate:import_filled",
            "Check, un-blind and import a filled sheet; importing it again changes nothing.",
        ),
    },
)

EXPORTS = GroupEntry(
    "Export results in other benchmarks' formats.",
    {
        "drb2": CommandEntry(
            "flows.cli.export:export_results",
            "Write DeepResearch Bench II's result.jsonl and its five agg_scores_*.csv.",
        ),
    },
)

KEYS = GroupEntry(
    "Make keys that sign sites and backups, and verify what was signed.",
    {
        "new": CommandEntry(
            "flows.cli.keys:new",
            "Make a key pair: evergreen.key, which signs, and evergreen.pub, which verifies.",
        ),
        "verify": CommandEntry(
            "flows.cli.keys:verify_folder",
            "Verify a signature, and every file against the signed list; exit code 1 if anything "
            "differs.",
        ),
    },
)

BACKUP = GroupEntry(
    "Back up a warehouse with its pages and files, as of one moment; `verify` a backup.",
    {
        "verify": CommandEntry(
            "flows.cli.backup:verify_backup",
            "Read a whole backup and compare it with its manifest; exit code 1 if it is damaged.",
        ),
    },
    callback="flows.cli.backup:make",
    at_once=True,
)
