"""Commands of two words, as `evergreen pages show`: a part of the table in commands.py."""

from flows.cli.lazy import Command, Group

IMPORTS = Group(
    "Bring in editions, reports and answers.",
    {
        "wlc": Command(
            "flows.cli.import_wlc:import_wlc",
            "Import an edition in the published Wiki Live Challenge layout; again changes nothing.",
        ),
        "reports": Command(
            "flows.cli.import_reports:import_report_files",
            "Import reports from files; again changes nothing.",
        ),
        "livedrbench": Command(
            "flows.cli.import_questions:import_livedrbench",
            "Import questions in LiveDRBench's published format; again changes nothing.",
        ),
        "answers": Command(
            "flows.cli.import_questions:import_agent_answers",
            "Import one agent's answers to an edition's questions; again changes nothing.",
        ),
        "drgym": Command(
            "flows.cli.import_queries:import_drgym",
            "Import DeepResearchGym's queries with their key points; again changes nothing.",
        ),
        "drb2": Command(
            "flows.cli.import_queries:import_drb2",
            "Import DeepResearch Bench II's tasks with their rubrics; again changes nothing.",
        ),
        "deepresearch_bench": Command(
            "flows.cli.import_queries:import_deepresearch_bench",
            "Import DeepResearch Bench's tasks, criteria and references; again changes nothing.",
        ),
        "rigorous": Command(
            "flows.cli.import_queries:import_rigorous",
            "Import queries in Rigorous Bench's published format; again changes nothing.",
        ),
        "rigorous-draft": Command(
            "flows.cli.drafts:import_rigorous_draft",
            "Take in drafted bundles that a person has reviewed; again changes nothing.",
        ),
    },
)

EDITION = Group(
    "Editions: list, show, verify what was frozen, compare two.",
    {
        "list": Command(
            "flows.cli.editions:list_editions",
            "The editions there are, collected and imported.",
        ),
        "show": Command(
            "flows.cli.editions:show",
            "What a frozen edition consists of; JSON is its whole manifest.",
        ),
        "verify": Command(
            "flows.cli.editions:verify_edition",
            "Compare every text, link and decision of a frozen edition with its manifest.",
        ),
        "drop": Command(
            "flows.cli.editions:drop",
            "Forget a collection that is not frozen, so that its name is free again.",
        ),
        "diff": Command(
            "flows.cli.editions:diff",
            "What two frozen editions have that the other has not.",
        ),
    },
)

DRAFT = Group(
    "Let a model draft what reports are measured by; a person reviews.",
    {
        "rubrics": Command(
            "flows.cli.drafts:draft_rubrics",
            "Draft a bundle of Rigorous Bench for each article: rubrics from its facts, keywords, "
            "links from its references, and a test of difficulty.",
        ),
    },
)

AGENTS = Group(
    "The agents there are; `check` one with a cheap call, look at their `jobs`, enter a `cost`.",
    {
        "check": Command(
            "flows.cli.agents:check",
            "Make one cheap call to an agent, and say what is wrong if it cannot be asked.",
        ),
        "jobs": Command(
            "flows.cli.agents:jobs",
            "Every report that was asked for: its job, what became of it, what it cost; one whole.",
        ),
        "cost": Command(
            "flows.cli.agents:cost",
            "Enter what it cost people to get reports by hand; again replaces.",
        ),
    },
    alone="flows.cli.agents:list_agents",
)

PAGES = Group(
    "The archive: pages as they were when they were fetched.",
    {
        "counts": Command(
            "flows.cli.pages:counts",
            "What became of the cited pages, by status and by the way they came.",
        ),
        "references": Command(
            "flows.cli.pages:references",
            "Per agent: claims that cite nothing, whose pages did not come, and what the others "
            "said.",
        ),
        "show": Command(
            "flows.cli.pages:show",
            "One page of the archive: how it was had, and what it says.",
        ),
        "export": Command(
            "flows.cli.pages:export",
            "Write an edition's archive as one file: WARC with bytes and texts, or texts alone.",
        ),
        "read": Command(
            "flows.cli.pages:read",
            "Take the text out of all fetched pages anew, after a change of the reader; fetches "
            "nothing.",
        ),
        "walls": Command(
            "flows.cli.pages:walls",
            "Look at the texts that a published edition brought as at those that we fetch: tests "
            "for robots and the like are no pages.",
        ),
    },
)

JUDGES = Group(
    "The judges there are; `check` asks one a cheap question.",
    {
        "check": Command(
            "flows.cli.judges:check",
            "Ask a judge one cheap question, and say what is wrong if it cannot answer.",
        ),
    },
    alone="flows.cli.judges:list_judges",
)

ANNOTATE = Group(
    "Blinded sheets that people label, and their way back.",
    {
        "make": Command(
            "flows.cli.annotate:make",
            "Draw a sheet: SHEET.csv and SHEET.html, the same questions; either can be filled in.",
        ),
        "import": Command(
            "flows.cli.annotate:import_filled",
            "Check and un-blind what a person filled in, and keep it; again changes nothing.",
        ),
    },
)

EXPORTS = Group(
    "Write results in the forms of other benches.",
    {
        "drb2": Command(
            "flows.cli.export:export_results",
            "Write DeepResearch Bench II's result.jsonl and its five agg_scores_*.csv.",
        ),
    },
)

BACKUP = Group(
    "Copy a warehouse, its pages and its files, as one moment left them; `verify` a copy.",
    {
        "verify": Command(
            "flows.cli.backup:verify_backup",
            "Read all of a backup and compare it with its manifest; exit code 1 if it is not "
            "whole.",
        ),
    },
    alone="flows.cli.backup:make",
)
