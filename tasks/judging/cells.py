"""Plan the cells of an evaluation and determine their states.

A cell is one (protocol, agent, assignment) for one judge and one state of its inputs. Its id is the
sha of all of these, so a changed report, page, prompt or protocol makes a new cell, and an old one
is never paid for again.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import polars as pl

from tasks.base import Frozen
from tasks.configuration.models import Missing, find_fallback
from tasks.judges.decisions import Judge
from tasks.judges.llm.prompts import find_attachment_problem
from tasks.judging.inputs import (
    FILE_INPUTS,
    PDFS,
    PICTURES,
    SCANS,
    USABLE_DOCUMENTS,
    USAGE,
    USAGE_TEXT,
    ShownFiles,
    add_files,
    choose_files,
    load_report_files,
)
from tasks.protocols.case import Protocol
from tasks.warehouse.jobs import ReportFile
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Readable

Files = tuple[ReportFile, ...]
CellState = Literal["done", "empty", "failed", "pending", "not_assessed"]

KNOWN_CELLS = """
SELECT c.cell_id, c.status, c.n_open, c.error, count(v.item) AS n_refused
FROM cells AS c
LEFT JOIN verdicts AS v ON v.cell_id = c.cell_id AND $4 IS NOT NULL
    AND v.status = 'blocked' AND v.decided_by IS DISTINCT FROM $4
WHERE c.edition = $1 AND c.protocol = $2 AND c.judge = $3
GROUP BY ALL
"""
"""The cells of a judge ($3), with the items that it refused and its fallback ($4) has not been
asked about."""

INPUTS = f"""
WITH cited_pages AS (
    SELECT agent, assignment,
        sha256(string_agg(DISTINCT line, chr(10) ORDER BY line)) AS pages
    FROM (
        SELECT c.agent, c.assignment,
            c.url || ' ' || coalesce(p.status || p.text_sha, p.status, '')
                || coalesce(' to ' || p.final_url, '') AS line
        FROM citations AS c LEFT JOIN pages AS p USING (edition, url)
        WHERE c.edition = $1
    )
    GROUP BY ALL
), attributed AS (
    SELECT agent, assignment, sha256(
        string_agg(concat_ws(' ', number, kind, url), chr(10) ORDER BY number, url)
    ) AS pairs
    FROM citations WHERE edition = $1 AND kind <> 'inferred' GROUP BY ALL
), usage AS ({USAGE})
SELECT r.agent, r.assignment, a.kind, coalesce(t.title, r.assignment) AS title,
    coalesce(t.url, '') AS article_url, r.status AS report_status,
    t.text_sha AS article, coalesce(t.category, '') AS category, r.text_sha AS report,
    f.output_sha AS facts, c.output_sha AS claims, coalesce(p.pages, '') AS pages,
    coalesce(p.pages, '') AS claim_pages, coalesce(w.pairs, '') AS pairs,
    c.pairs_reliable, c.pairs_reason,
    g.truth_sha AS truth, coalesce(s.trace_sha, '') AS trace,
    coalesce(a.query, t.title) AS query, b.bundle_sha AS rubric,
    coalesce(b.bundle_sha, '') AS criteria,
    coalesce(k.output_sha, d.state, '') AS key_points, coalesce({USAGE_TEXT}, '') AS usage
FROM reports AS r
JOIN assignments AS a USING (edition, assignment)
LEFT JOIN articles AS t ON t.edition = a.edition AND t.article = a.article
LEFT JOIN ground_truths AS g ON g.edition = r.edition AND g.assignment = r.assignment
LEFT JOIN search_traces AS s
    ON s.edition = r.edition AND s.agent = r.agent AND s.assignment = r.assignment
LEFT JOIN rubric_bundles AS b
    ON b.edition = r.edition AND b.assignment = r.assignment AND b.protocol = $2
LEFT JOIN point_sets AS k ON k.edition = r.edition AND k.assignment = r.assignment
LEFT JOIN ({USABLE_DOCUMENTS}) AS d ON d.assignment = r.assignment
LEFT JOIN usage AS u ON u.agent = r.agent AND u.assignment = r.assignment
LEFT JOIN extractions AS f
    ON f.edition = r.edition AND f.agent = '' AND f.assignment = r.assignment
LEFT JOIN extractions AS c
    ON c.edition = r.edition AND c.agent = r.agent AND c.assignment = r.assignment
    AND c.input_sha = r.text_sha
LEFT JOIN cited_pages AS p ON p.agent = r.agent AND p.assignment = r.assignment
LEFT JOIN attributed AS w ON w.agent = r.agent AND w.assignment = r.assignment
WHERE r.edition = $1
ORDER BY r.agent, r.assignment
"""

PAGE_SIZES = """
SELECT c.agent, c.assignment, max(strlen(p.text)) AS longest, max(c.claims) AS most
FROM (SELECT edition, agent, assignment, url, count(*) AS claims FROM citations GROUP BY ALL) AS c
JOIN pages AS p USING (edition, url)
WHERE c.edition = $1 AND p.status = 'ok'
GROUP BY ALL
"""
"""Per report with fetched pages: the longest page's bytes, and the most claims that cite one page.
Decompresses all texts: 0.15 s for 60 MB."""

CLAIM_PAGES_SIZES = """
SELECT agent, assignment, max(together) AS longest, count(*) AS most
FROM (
    SELECT c.agent, c.assignment, c.number, sum(strlen(p.text) + 2)::BIGINT AS together
    FROM citations AS c JOIN pages AS p USING (edition, url)
    WHERE c.edition = $1 AND p.status = 'ok'
    GROUP BY ALL
)
GROUP BY ALL
"""
"""The same if a claim's pages are read as one text: the longest text's bytes, and the number of
claims, since all may cite the same pages."""
WAITS = "waits for"
"""The beginning of the reason of a cell that cannot be judged yet."""


class KnownCell(NamedTuple):
    """What is stored of a cell."""

    status: str
    n_open: int
    error: str | None
    n_refused: int


class CellPlan(Frozen):
    """One cell and its state, as passed to the task that judges it."""

    edition: str
    protocol: str
    agent: str
    assignment: str
    title: str
    judge: str
    model_version: str
    prompt_sha: str
    protocol_version: str
    input_sha: str
    cell_id: str
    state: CellState
    state_reason: str | None = None
    pairs_reliable: bool | None = None
    pairs_reason: str | None = None
    article_url: str
    missing: Missing = "zero"
    """What the protocol counts for a missing report."""
    n_refused: int = 0
    """Blocked items that the judge's fallback is still to be asked about: the figures stand, but
    the cell is judged again, with the judge's own answers from the ledger."""
    shown: ShownFiles = ShownFiles()
    """The report's files that the judge is shown."""

    @property
    def is_pending(self) -> bool:
        """Whether a run is to judge it."""
        return self.state in ("pending", "failed") or self.n_refused > 0

    @property
    def is_waiting(self) -> bool:
        """Whether facts, claims or pages that it rests on are still to be made."""
        return (self.state_reason or "").startswith(WAITS)


def plan_cells(
    warehouse: Readable,
    edition: str,
    protocol: Protocol,
    judge: Judge,
    agents: Sequence[str] = (),
) -> list[CellPlan]:
    """Return all cells of a protocol and judge, by agent and assignment; `agents` limits them.

    Only assignments of the protocol's kinds have cells and, if the protocol needs a rubric or a
    reference article, only those that have one.
    """
    inputs = warehouse.frame(INPUTS, [edition, protocol.name])
    judged = [edition, protocol.name, judge.name, find_fallback(judge.name)]
    frame = warehouse.frame(KNOWN_CELLS, judged)
    known = {cell: KnownCell(*found) for cell, *found in frame.iter_rows()}
    files = load_report_files(warehouse, edition, protocol.inputs)
    sizes = _load_page_sizes(warehouse, edition, protocol)
    return [
        _plan_cell(
            record,
            files.get((record["agent"], record["assignment"]), ()),
            sizes.get((record["agent"], record["assignment"]), (0, 0)),
            edition,
            protocol,
            judge,
            known,
        )
        for record in inputs.iter_rows(named=True)
        if record["kind"] in protocol.kinds
        and (not agents or record["agent"] in agents)
        and all(
            record[name] is not None for name in ("rubric", "article") if name in protocol.inputs
        )
    ]


def _load_page_sizes(
    warehouse: Readable, edition: str, protocol: Protocol
) -> dict[tuple[str, str], tuple[int, int]]:
    measures = {"pages": PAGE_SIZES, "claim_pages": CLAIM_PAGES_SIZES}
    wanted = [sql for name, sql in measures.items() if name in protocol.inputs]
    if not wanted:
        return {}
    frame = warehouse.frame(wanted[0], [edition])
    return {
        (agent, assignment): (longest or 0, most)
        for agent, assignment, longest, most in frame.iter_rows()
    }


def _plan_cell(
    record: dict[str, object],
    files: Sequence[ReportFile],
    sizes: tuple[int, int],
    edition: str,
    protocol: Protocol,
    judge: Judge,
    known: dict[str, KnownCell],
) -> CellPlan:
    shown = choose_files(
        files,
        scanned=record["report_status"] == "scanned",
        inputs=protocol.inputs,
        judge=judge,
    )
    prompt_sha = add_files(record, shown, protocol.prompts, judge.prompt_sha(protocol.prompts))
    # How this judge reads pages only matters for cells whose pages it does not read whole at once.
    if record["pairs_reliable"] and (reading := judge.page_key_parts(*sizes)):
        prompt_sha = content_sha(prompt_sha, *reading)
    # Only cells that are shown files have them in their ids: the others keep the ids they were paid
    # for under.
    inputs = [name for name in protocol.inputs if name not in FILE_INPUTS]
    shows = {SCANS: {SCANS, PDFS}, PICTURES: {PICTURES}}
    inputs += [name for name in shows if name in record and shows[name] & {*protocol.inputs}]
    input_sha = content_sha(*(f"{name}={record[name]}" for name in inputs))
    key = (edition, protocol.name, str(record["agent"]), str(record["assignment"]), judge.name)
    cell_id = content_sha(*key, judge.model_version, prompt_sha, protocol.version, input_sha)
    missing = [name for name in inputs if record[name] is None]
    found = known.get(cell_id)
    state, reason = _determine_state(record, shown.instead, protocol, judge, missing, found)
    return CellPlan(
        edition=edition,
        protocol=protocol.name,
        agent=key[2],
        assignment=key[3],
        title=str(record["title"]),
        judge=judge.name,
        model_version=judge.model_version,
        prompt_sha=prompt_sha,
        protocol_version=protocol.version,
        input_sha=input_sha,
        cell_id=cell_id,
        state=state,
        state_reason=reason,
        pairs_reliable=record["pairs_reliable"],
        pairs_reason=record["pairs_reason"],
        article_url=str(record["article_url"]),
        missing=protocol.missing,
        n_refused=found.n_refused if found and state == "done" else 0,
        shown=shown,
    )


def _determine_state(
    record: dict[str, object],
    files: Files,
    protocol: Protocol,
    judge: Judge,
    missing: Sequence[str],
    known: KnownCell | None,
) -> tuple[CellState, str | None]:
    if record["report_status"] == "empty":
        if "facts" in missing:  # what it does not cover is not known yet
            return "pending", f"{WAITS} facts"
        return "empty", "the report is empty"
    if record["report_status"] == "scanned" and (why := _explain_unshown(files, protocol, judge)):
        return "not_assessed", f"not_assessed: the report is a scan; {why}"
    if not protocol.supports(judge):
        return "not_assessed", f"not_assessed: the judge {judge.name} cannot decide this protocol"
    if missing:
        return "pending", f"{WAITS} {', '.join(missing)}"
    if known is None:
        return "pending", None
    if known.status == "failed":
        return "failed", known.error
    return ("pending", f"{known.n_open} items are open") if known.n_open else ("done", None)


def _explain_unshown(files: Files, protocol: Protocol, judge: Judge) -> str | None:
    """Return why a scan cannot be judged; None if it can."""
    if SCANS not in protocol.inputs:
        return f"{protocol.name} judges texts only"
    return find_attachment_problem(judge.name, judge.reads, files)


def build_plan_frame(plans: Sequence[CellPlan]) -> pl.DataFrame:
    """Return the plans as a frame with one row per report, for scoring."""
    left_out = {"shown", "n_refused"}
    names = [name for name in CellPlan.model_fields if name not in left_out]
    schema = dict.fromkeys(names, pl.String) | {"pairs_reliable": pl.Boolean}
    return pl.DataFrame([plan.model_dump(exclude=left_out) for plan in plans], schema=schema)
