-- Views for people who ask their own questions. `evergreen schema` tells all views and columns
-- with their comments; columns that mean the same everywhere (edition, agent, judge, …) are told
-- in tasks/warehouse/descriptions.py.

-- Figures rest on finished cells. A report with answers still open has none, but what was
-- answered is there: the newest cell with as many open items as its score says.
CREATE VIEW verdicts_at_hand AS
WITH waiting AS (
    SELECT DISTINCT edition, protocol, agent, assignment, judge, reason
    FROM scores WHERE state = 'pending' AND reason LIKE '% items are open'
), unfinished AS (
    SELECT c.cell_id
    FROM cells AS c JOIN waiting AS w USING (edition, protocol, agent, assignment, judge)
    WHERE c.status = 'done' AND w.reason = c.n_open || ' items are open'
    QUALIFY row_number() OVER (
        PARTITION BY edition, protocol, agent, assignment, judge
        ORDER BY c.finished_at DESC, c.cell_id
    ) = 1
)
SELECT v.*
FROM verdicts AS v
WHERE v.cell_id IN (
    SELECT cell_id FROM scores WHERE cell_id IS NOT NULL UNION SELECT cell_id FROM unfinished
);

-- The id is tasks.warehouse.explained.report_id: sha-256 over the parts, each after its length in bytes.
CREATE VIEW report_index AS
WITH claimed AS (
    SELECT edition, agent, assignment, count(*) AS n_claims FROM claims GROUP BY ALL
), cited AS (
    SELECT edition, agent, assignment, count(*) AS n_citations FROM citations GROUP BY ALL
), stated AS (
    SELECT edition, article, count(*) AS n_facts FROM facts GROUP BY ALL
)
SELECT
    left(sha256(
        strlen(r.edition) || ':' || r.edition || strlen(r.agent) || ':' || r.agent
        || strlen(r.assignment) || ':' || r.assignment
    ), 10) AS report,
    r.edition, r.agent, r.assignment, coalesce(t.title, r.assignment) AS title, a.kind, r.status,
    length(r.text) AS n_characters,
    coalesce(c.n_claims, 0) AS n_claims,
    coalesce(z.n_citations, 0) AS n_citations,
    coalesce(f.n_facts, 0) AS n_facts
FROM reports AS r
LEFT JOIN assignments AS a ON a.edition = r.edition AND a.assignment = r.assignment
LEFT JOIN articles AS t ON t.edition = a.edition AND t.article = a.article
LEFT JOIN stated AS f ON f.edition = a.edition AND f.article = a.article
LEFT JOIN claimed AS c
    ON c.edition = r.edition AND c.agent = r.agent AND c.assignment = r.assignment
LEFT JOIN cited AS z
    ON z.edition = r.edition AND z.agent = r.agent AND z.assignment = r.assignment
ORDER BY r.edition, r.agent, r.assignment;

CREATE VIEW coverage_by_fact AS
SELECT
    v.edition, f.article, t.title, f.section, f.number AS fact_number, f.text AS fact, v.judge,
    count(DISTINCT v.agent) FILTER (v.status = 'ok') AS n_agents,
    count(DISTINCT v.agent) FILTER (v.status = 'ok' AND v.label = 'consistent') AS n_covered,
    count(DISTINCT v.agent) FILTER (v.status = 'ok' AND v.label = 'consistent')
        / nullif(count(DISTINCT v.agent) FILTER (v.status = 'ok'), 0) AS share
FROM current_verdicts AS v
JOIN assignments AS a ON a.edition = v.edition AND a.assignment = v.assignment
JOIN facts AS f ON f.edition = v.edition AND f.article = a.article AND v.item = 'fact:' || f.number
LEFT JOIN articles AS t ON t.edition = f.edition AND t.article = f.article
WHERE v.protocol = 'wiki_fact' AND v.step = 'coverage'
GROUP BY ALL
ORDER BY v.edition, f.article, fact_number, v.judge;

CREATE VIEW coverage_by_section AS
SELECT
    edition, article, title, section, judge,
    count(*) AS n_facts,
    max(n_agents) AS n_agents,
    sum(n_agents)::BIGINT AS n_decided,
    sum(n_covered)::BIGINT AS n_covered,
    sum(n_covered) / nullif(sum(n_agents), 0) AS share
FROM coverage_by_fact
GROUP BY ALL
ORDER BY edition, article, min(fact_number), judge;

-- What reports and judging cost, the one place that says so. A sum stands as far as it is known, with
-- a word: `known`, `free` (known, and 0), `at least` (something is missing from it) or `unknown`.
CREATE VIEW cost_by_agent AS
WITH asked AS (
    SELECT edition, agent, assignment, sum(cost_usd ORDER BY job) AS usd,
        count(*) FILTER (cost_usd IS NULL AND state IN ('done', 'failed', 'lost', 'abandoned'))
            AS unknown
    FROM jobs GROUP BY ALL
), spent AS (
    SELECT edition, agent, assignment,
        r.text_sha IS NOT NULL AS reported,
        coalesce(j.unknown, 0) AS unknown,
        CASE WHEN coalesce(j.usd, c.usd) IS NOT NULL
            THEN coalesce(j.usd, 0) + coalesce(c.usd, 0) END AS usd
    FROM reports AS r
    FULL JOIN asked AS j USING (edition, agent, assignment)
    FULL JOIN collection_costs AS c USING (edition, agent, assignment)
), made AS (
    SELECT edition, agent,
        count(*) FILTER (reported) AS reports,
        count(usd) FILTER (reported AND unknown = 0) AS priced_reports,
        sum(usd ORDER BY assignment) AS usd,
        priced_reports = reports AND sum(unknown) = 0 AS whole
    FROM spent GROUP BY ALL
), begun AS (
    SELECT edition, agent, judge, assignment FROM cells WHERE status = 'done'
    UNION
    SELECT edition, agent, judge, assignment FROM verdicts WHERE call_id IS NOT NULL
), judged AS (
    SELECT edition, agent, judge, count(*) AS judged_reports FROM begun GROUP BY ALL
), failed AS (
    SELECT edition, agent, judge, count(*) AS n FROM cells WHERE status = 'failed' GROUP BY ALL
), paid AS (
    SELECT edition, agent, judge,
        sum(calls)::BIGINT AS calls,
        sum(calls_without_price)::BIGINT AS unpriced,
        sum(cost_usd ORDER BY protocol) AS usd
    FROM judging_costs GROUP BY ALL
), both_sides AS (
    SELECT edition, agent, j.judge,
        coalesce(m.reports, 0) AS reports, coalesce(m.priced_reports, 0) AS priced_reports,
        m.usd AS report_usd,
        CASE WHEN m.usd IS NULL OR m.usd = 0 AND NOT m.whole THEN 'unknown'
            WHEN NOT m.whole THEN 'at least' WHEN m.usd = 0 THEN 'free' ELSE 'known' END
            AS report_cost,
        j.judged_reports,
        CASE WHEN j.judge IS NOT NULL THEN coalesce(p.calls, 0) END AS judging_calls,
        CASE WHEN j.judge IS NOT NULL THEN coalesce(p.unpriced, 0) END AS unpriced_calls,
        p.usd AS judging_usd,
        -- What a cell was paid for that failed as a whole, no verdict tells.
        coalesce(p.unpriced, 0) = 0 AND f.n IS NULL AS judging_whole,
        CASE WHEN j.judge IS NULL THEN NULL WHEN p.judge IS NULL THEN 'no calls'
            WHEN p.usd IS NULL OR p.usd = 0 AND NOT judging_whole THEN 'unknown'
            WHEN NOT judging_whole THEN 'at least' WHEN p.usd = 0 THEN 'free' ELSE 'known' END
            AS judging_cost
    FROM made AS m
    FULL JOIN judged AS j USING (edition, agent)
    LEFT JOIN failed AS f USING (edition, agent, judge)
    LEFT JOIN paid AS p USING (edition, agent, judge)
)
SELECT
    edition, agent, judge, reports, priced_reports,
    CASE WHEN report_cost <> 'unknown' THEN report_usd END AS report_usd, report_cost,
    CASE WHEN report_cost IN ('known', 'free') THEN report_usd / nullif(reports, 0) END
        AS usd_per_report,
    judged_reports, judging_calls, unpriced_calls,
    CASE WHEN judging_cost <> 'unknown' THEN judging_usd END AS judging_usd, judging_cost,
    CASE WHEN judging_cost IN ('known', 'free') THEN judging_usd / judged_reports END
        AS judging_usd_per_report
FROM both_sides
ORDER BY edition, agent, judge;

CREATE VIEW verdicts_explained AS
WITH said AS (
    SELECT v.*,
        try_cast(regexp_extract(v.item, '^claim:(\d+)( |$)', 1) AS INTEGER) AS claim_number,
        nullif(regexp_extract(v.item, '^claim:\d+ (.+)$', 1), '') AS url,
        try_cast(regexp_extract(v.item, '^fact:(\d+)$', 1) AS INTEGER) AS fact_number
    FROM current_verdicts AS v
)
SELECT
    s.edition, s.protocol, s.agent, s.assignment, s.judge, s.step, s.item,
    s.claim_number, c.text AS claim, s.fact_number, f.text AS fact, s.url,
    CASE WHEN s.url IS NOT NULL THEN coalesce(p.status, 'not fetched') END AS page_status,
    s.status, s.label, s.score, s.reason, s.evidence, s.shown_share,
    s.model_version, s.prompt_sha, s.attempt, s.call_id
FROM said AS s
LEFT JOIN assignments AS a ON a.edition = s.edition AND a.assignment = s.assignment
LEFT JOIN claims AS c
    ON c.edition = s.edition AND c.agent = s.agent AND c.assignment = s.assignment
    AND c.number = s.claim_number
LEFT JOIN facts AS f
    ON f.edition = s.edition AND f.article = a.article AND f.number = s.fact_number
LEFT JOIN pages AS p ON p.edition = s.edition AND p.url = s.url;

-- A cell that was judged with answers missing says in its scores' reason how many.
CREATE VIEW open_items AS
WITH told AS (
    SELECT *, CASE WHEN state = 'pending'
        THEN try_cast(regexp_extract(reason, '^(\d+) items are open$', 1) AS INTEGER) END AS waiting
    FROM scores
)
SELECT
    edition, protocol, agent, assignment, judge,
    CASE WHEN state IN ('pending', 'failed') AND waiting IS NULL THEN state ELSE 'open' END AS state,
    max(coalesce(waiting, n_open)) AS n_open,
    coalesce(max(reason), 'cited pages or answers are missing') AS reason
FROM told
WHERE state IN ('pending', 'failed') OR n_open > 0
GROUP BY ALL
ORDER BY ALL;

CREATE VIEW failures_by_agent AS
SELECT edition, agent, 'report' AS stage, NULL AS protocol, NULL AS judge, state AS failure,
    count(*) AS n, min(error) AS example
FROM jobs WHERE state IN ('failed', 'refused', 'lost', 'overdue', 'abandoned') GROUP BY ALL
UNION ALL
SELECT edition, scope, 'import', NULL, NULL, kind, count(*), min(message)
FROM import_issues WHERE severity = 'unreadable' AND scope <> '' GROUP BY ALL
UNION ALL
SELECT z.edition, z.agent, 'page', NULL, NULL, p.status, count(DISTINCT z.url), min(p.error)
FROM citations AS z JOIN pages AS p USING (edition, url) WHERE p.status <> 'ok' GROUP BY ALL
UNION ALL
SELECT edition, agent, 'cell', protocol, judge, status, count(*), min(error)
FROM cells WHERE status = 'failed' GROUP BY ALL
UNION ALL
SELECT edition, agent, 'verdict', protocol, judge, status, count(*), min(reason)
FROM verdicts_at_hand WHERE status <> 'ok' GROUP BY ALL
ORDER BY ALL;

-- What they are, and their columns. Line breaks in a comment mean nothing.
COMMENT ON VIEW verdicts_at_hand IS
    'Every current verdict, and of reports with answers still open those there are so far.';

COMMENT ON VIEW report_index IS
    'Every report: its id, and how much there is of it. `evergreen explain --report ID` tells all
    of one.';
COMMENT ON COLUMN report_index.report IS
    'The report''s id: the start of a sha over edition, agent and assignment.';
COMMENT ON COLUMN report_index.kind IS
    'What was asked for: write_article, find_claims or research.';
COMMENT ON COLUMN report_index.status IS
    'ok, empty, clarification (the agent asked back) or scanned (it came as pictures).';
COMMENT ON COLUMN report_index.n_characters IS 'Of the report''s text.';
COMMENT ON COLUMN report_index.n_claims IS 'Statements taken out of it.';
COMMENT ON COLUMN report_index.n_citations IS '(Claim, URL) pairs.';
COMMENT ON COLUMN report_index.n_facts IS 'Of the reference article; 0 where there is none.';

COMMENT ON VIEW coverage_by_fact IS
    'Each fact of the reference articles beside how many agents'' reports hold it (Wiki Fact).
    Reports with answers still open are left out.';
COMMENT ON COLUMN coverage_by_fact.fact_number IS '0-based, in article order.';
COMMENT ON COLUMN coverage_by_fact.fact IS 'The fact''s text.';
COMMENT ON COLUMN coverage_by_fact.n_agents IS 'Agents for whose reports this was decided.';
COMMENT ON COLUMN coverage_by_fact.n_covered IS 'Of these, agents whose report holds the fact.';
COMMENT ON COLUMN coverage_by_fact.share IS
    'n_covered / n_agents, 0-1; null where nothing was decided.';

COMMENT ON VIEW coverage_by_section IS
    'The same by section of the article: what all agents miss, and what all find.';
COMMENT ON COLUMN coverage_by_section.n_facts IS 'Facts in the section.';
COMMENT ON COLUMN coverage_by_section.n_agents IS
    'The most agents for which one of them was decided.';
COMMENT ON COLUMN coverage_by_section.n_decided IS 'Decisions: facts times agents.';
COMMENT ON COLUMN coverage_by_section.n_covered IS 'Of these, facts that the report holds.';
COMMENT ON COLUMN coverage_by_section.share IS
    'n_covered / n_decided, 0-1; null where nothing was decided.';

COMMENT ON VIEW cost_by_agent IS
    'What an agent''s reports cost, and what each judge''s judging of them cost. What nobody knows
    is null, never 0.';
COMMENT ON COLUMN cost_by_agent.reports IS 'Reports of the agent.';
COMMENT ON COLUMN cost_by_agent.priced_reports IS
    'Of these, reports of which every job''s cost, or what people entered, is known.';
COMMENT ON COLUMN cost_by_agent.report_usd IS
    'US dollars paid for all that was asked of the agent, also in vain, and what people entered.';
COMMENT ON COLUMN cost_by_agent.report_cost IS
    'What report_usd is: `known`, `free` (known, and 0), `at least` (some is missing from it) or
    `unknown`.';
COMMENT ON COLUMN cost_by_agent.usd_per_report IS
    'report_usd / reports; null unless all is known.';
COMMENT ON COLUMN cost_by_agent.judged_reports IS
    'Reports that the judge has judged or begun with, under any protocol.';
COMMENT ON COLUMN cost_by_agent.judging_calls IS
    'Model calls behind its verdicts, those bought again as well.';
COMMENT ON COLUMN cost_by_agent.unpriced_calls IS 'Of these, calls whose price is unknown.';
COMMENT ON COLUMN cost_by_agent.judging_usd IS
    'US dollars for these calls, as far as their prices are known.';
COMMENT ON COLUMN cost_by_agent.judging_cost IS
    'What judging_usd is: as report_cost, or `no calls` where no model was asked here (a judge that
    computes, or verdicts that were brought in). `at least` also where a cell failed: what it was
    paid for, `calls` alone tells.';
COMMENT ON COLUMN cost_by_agent.judging_usd_per_report IS
    'judging_usd / judged_reports; null unless all is known.';

COMMENT ON VIEW verdicts_explained IS
    'Every current verdict beside the claim or fact it is about, its page, and what made it.';
COMMENT ON COLUMN verdicts_explained.claim_number IS 'The claim''s, where it is about one.';
COMMENT ON COLUMN verdicts_explained.claim IS 'The claim''s text.';
COMMENT ON COLUMN verdicts_explained.fact_number IS 'The fact''s, where it is about one.';
COMMENT ON COLUMN verdicts_explained.fact IS 'The fact''s text.';
COMMENT ON COLUMN verdicts_explained.url IS 'The cited page, where it is about one.';
COMMENT ON COLUMN verdicts_explained.page_status IS
    'What became of that page: ok, why it is not, or `not fetched`.';
COMMENT ON COLUMN verdicts_explained.status IS
    'ok, or why there is no decision: only ok enters a figure.';
COMMENT ON COLUMN verdicts_explained.shown_share IS
    'Of the page''s characters, the share the judge was shown, 0-1; null: all of it.';

COMMENT ON VIEW open_items IS
    'Reports of which something is still to be decided. Scores that an earlier version made are
    not listed: `evaluate` makes them again, asking nobody.';
COMMENT ON COLUMN open_items.state IS
    '`pending`: its cell waits; `failed`: its cell failed and is tried again; `open`: it is
    judged, but pages or answers are missing.';
COMMENT ON COLUMN open_items.n_open IS
    'Items, of the metric that lacks most; 0 where the whole cell waits or failed.';
COMMENT ON COLUMN open_items.reason IS 'What is missing, in words.';

COMMENT ON VIEW failures_by_agent IS
    'What went wrong with an agent''s reports, counted. None of it is a score.';
COMMENT ON COLUMN failures_by_agent.stage IS
    'Where: report (asking for it), import, page (a cited one), cell (judging a report), verdict
    (one decision).';
COMMENT ON COLUMN failures_by_agent.failure IS 'What: the state or status, as its table has it.';
COMMENT ON COLUMN failures_by_agent.n IS 'How many.';
COMMENT ON COLUMN failures_by_agent.example IS 'One of the messages; null where there is none.';
