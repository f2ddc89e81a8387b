-- What the older views and their columns are. A view that is replaced loses its comments: give them
-- again with it. Line breaks in a comment mean nothing.

-- First put right: the two Wiki protocols alone where a view is about them, money summed in one
-- order.
CREATE OR REPLACE VIEW leaderboard_wide AS
SELECT
    edition,
    agent,
    judge,
    max(value) FILTER (WHERE metric = 'coverage_wiki') AS coverage_wiki,
    max(value) FILTER (WHERE metric = 'coverage_wiki_soft') AS coverage_wiki_soft,
    max(value) FILTER (WHERE metric = 'wiki_conflict') AS wiki_conflict,
    max(value) FILTER (WHERE metric = 'ref_acc') AS ref_acc,
    max(value) FILTER (WHERE metric = 'ref_acc_strict') AS ref_acc_strict,
    max(value) FILTER (WHERE metric = 'evaluated_share') AS evaluated_share,
    max(value) FILTER (WHERE metric = 'leakage_rate') AS leakage_rate,
    max(value) FILTER (WHERE metric = 'writing_overall') AS writing_overall,
    bool_or(provisional) AS provisional
FROM leaderboard
WHERE protocol IN ('wiki_fact', 'wiki_writing')
GROUP BY edition, agent, judge
ORDER BY edition, judge, coverage_wiki_soft DESC NULLS LAST, agent;

CREATE OR REPLACE VIEW fact_verdicts AS
SELECT
    v.edition, v.agent, v.assignment, v.judge,
    f.number AS fact_number, f.section, f.text AS fact,
    v.label, v.score, v.status, v.evidence, v.reason
FROM current_verdicts AS v
JOIN assignments AS a ON a.edition = v.edition AND a.assignment = v.assignment
JOIN facts AS f
    ON f.edition = v.edition AND f.article = a.article AND v.item = 'fact:' || f.number
WHERE v.protocol = 'wiki_fact' AND v.step = 'coverage';

CREATE OR REPLACE VIEW citation_verdicts AS
SELECT
    v.edition, v.agent, v.assignment, v.judge,
    c.number AS claim_number, c.text AS claim, z.url, z.kind,
    v.label, v.score, v.status, v.evidence, v.reason, v.shown_share
FROM current_verdicts AS v
JOIN citations AS z
    ON z.edition = v.edition AND z.agent = v.agent AND z.assignment = v.assignment
    AND v.item = 'claim:' || z.number || ' ' || z.url
JOIN claims AS c
    ON c.edition = z.edition AND c.agent = z.agent AND c.assignment = z.assignment
    AND c.number = z.number
WHERE v.protocol = 'wiki_fact' AND v.step = 'citation';

CREATE OR REPLACE VIEW judging_costs AS
WITH asked AS (
    SELECT DISTINCT v.edition, v.judge, v.protocol, v.agent, v.assignment, c.request_id
    FROM verdicts AS v JOIN calls AS c ON c.call_id = v.call_id
)
SELECT
    a.edition, a.judge, a.protocol, a.agent,
    count(DISTINCT a.assignment) AS reports,
    count(*) AS calls,
    sum(c.prompt_tokens) AS prompt_tokens,
    sum(c.cached_tokens) AS cached_tokens,
    sum(c.output_tokens) AS output_tokens,
    sum(c.thinking_tokens) AS thinking_tokens,
    sum(c.cost_usd ORDER BY c.call_id) AS cost_usd,
    count(*) FILTER (c.cost_usd IS NULL AND c.status <> 'failed') AS calls_without_price,
    sum(c.cost_usd ORDER BY c.call_id) / count(DISTINCT a.assignment) AS usd_per_report
FROM asked AS a JOIN calls AS c ON c.request_id = a.request_id
GROUP BY ALL
ORDER BY a.edition, a.judge, a.protocol, a.agent;

CREATE OR REPLACE VIEW report_costs AS
WITH asked AS (
    SELECT edition, agent,
        count(DISTINCT assignment) FILTER (state = 'done') AS asked_reports,
        count(*) AS jobs,
        sum(cost_usd ORDER BY job) AS usd,
        count(*) FILTER (cost_usd IS NULL AND state IN ('done', 'failed', 'lost', 'abandoned'))
            AS jobs_without_cost,
        CAST(sum(searches) AS BIGINT) AS searches,
        CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
        CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
        CAST(sum(reasoning_tokens) AS BIGINT) AS reasoning_tokens
    FROM jobs GROUP BY ALL
),
entered AS (
    SELECT edition, agent, count(*) AS people_reports,
        sum(usd ORDER BY assignment) AS people_usd,
        sum(minutes ORDER BY assignment) AS people_minutes
    FROM collection_costs GROUP BY ALL
)
SELECT * FROM asked FULL JOIN entered USING (edition, agent) ORDER BY edition, agent;

COMMENT ON VIEW current_verdicts IS
    'Every verdict that a figure rests on: those of the cells that the scores name.';

COMMENT ON VIEW leaderboard_wide IS
    'The Wiki Fact and Wiki Writing figures side by side, an agent and judge a line; shares 0-1.';
COMMENT ON COLUMN leaderboard_wide.coverage_wiki IS
    'Share of reference facts that the reports hold.';
COMMENT ON COLUMN leaderboard_wide.coverage_wiki_soft IS
    'Mean probability that a reference fact is held.';
COMMENT ON COLUMN leaderboard_wide.wiki_conflict IS
    'Share of claims that contradict the reference.';
COMMENT ON COLUMN leaderboard_wide.ref_acc IS
    'Share of the claims with a fetched page that one of their pages supports.';
COMMENT ON COLUMN leaderboard_wide.ref_acc_strict IS
    'The same, with claims whose pages were all tried in vain as not supported.';
COMMENT ON COLUMN leaderboard_wide.evaluated_share IS 'Share of cited claims with a fetched page.';
COMMENT ON COLUMN leaderboard_wide.leakage_rate IS
    'Share of claims that cite the target article itself.';
COMMENT ON COLUMN leaderboard_wide.writing_overall IS
    'Share of the writing criteria by which the report beats the reference.';
COMMENT ON COLUMN leaderboard_wide.provisional IS 'Whether something of a figure is still open.';

COMMENT ON VIEW fact_verdicts IS
    'Each fact of the reference beside what the judge found for it in each report (Wiki Fact).';
COMMENT ON COLUMN fact_verdicts.fact_number IS '0-based, in article order.';
COMMENT ON COLUMN fact_verdicts.fact IS 'The fact''s text.';
COMMENT ON COLUMN fact_verdicts.label IS
    '`consistent`: the report holds it; `not_support`; `inconsistent`.';
COMMENT ON COLUMN fact_verdicts.status IS
    'ok, or why there is no decision: only ok enters a figure.';

COMMENT ON VIEW citation_verdicts IS
    'Each (claim, URL) pair beside whether the page supports the claim (Wiki Fact).';
COMMENT ON COLUMN citation_verdicts.claim_number IS 'The claim''s.';
COMMENT ON COLUMN citation_verdicts.claim IS 'The claim''s text.';
COMMENT ON COLUMN citation_verdicts.kind IS
    'explicit, inferred (the claim took the next citation) or published.';
COMMENT ON COLUMN citation_verdicts.label IS '`support`, `not_support` or `conflict`.';
COMMENT ON COLUMN citation_verdicts.status IS
    'ok, or why there is no decision: only ok enters a figure.';
COMMENT ON COLUMN citation_verdicts.shown_share IS
    'Of the page''s characters, the share the judge was shown, 0-1; null: all of it.';

COMMENT ON VIEW judging_costs IS
    'What judging cost, an agent, protocol and judge a line: every paid attempt behind a stored
    verdict. Calls of a cell that failed as a whole are in `calls` alone.';
COMMENT ON COLUMN judging_costs.reports IS 'Reports that calls were made for.';
COMMENT ON COLUMN judging_costs.calls IS 'Model calls; one that decided several items counts once.';
COMMENT ON COLUMN judging_costs.calls_without_price IS
    'Of these, calls whose price is unknown; cost_usd leaves them out.';
COMMENT ON COLUMN judging_costs.usd_per_report IS 'cost_usd / reports.';

COMMENT ON VIEW candidate_ranking IS
    'The choice of a collected edition''s articles, which anybody can redo: the first n_articles
    places are the edition.';
COMMENT ON COLUMN candidate_ranking.n_articles IS 'To be chosen.';
COMMENT ON COLUMN candidate_ranking.spread IS 'Whether the categories take turns.';
COMMENT ON COLUMN candidate_ranking.reference_rank IS 'By reference URLs; 1 has most.';
COMMENT ON COLUMN candidate_ranking.heading_rank IS 'By headings; 1 has most.';
COMMENT ON COLUMN candidate_ranking.score IS 'The sum of both ranks: small is good.';
COMMENT ON COLUMN candidate_ranking.turn IS 'Its place within its category.';
COMMENT ON COLUMN candidate_ranking.place IS 'Its place in the choice.';

COMMENT ON VIEW category_scores IS
    'Claim discovery by category of question: means over the questions that have a value.';
COMMENT ON COLUMN category_scores.category IS 'LiveDRBench''s category.';
COMMENT ON COLUMN category_scores.value IS 'The mean of the reports'' values.';
COMMENT ON COLUMN category_scores.n_questions IS 'Reports it rests on.';

COMMENT ON VIEW question_counts IS
    'How many questions of an edition were accepted, rejected (and why) or are open.';
COMMENT ON COLUMN question_counts.state IS 'accepted, rejected or open.';
COMMENT ON COLUMN question_counts.reason IS 'Why it is not accepted.';
COMMENT ON COLUMN question_counts.n IS 'How many.';
COMMENT ON COLUMN question_counts.closed_book_f1 IS
    'Mean F1, 0-1, of the judge''s answers without sources.';
COMMENT ON COLUMN question_counts.n_closed_book IS 'Questions that mean rests on.';

COMMENT ON VIEW report_costs IS
    'What the reports of an agent cost, an agent and edition a line: all that was paid, also for
    jobs that brought no report.';
COMMENT ON COLUMN report_costs.asked_reports IS 'Assignments with a finished job.';
COMMENT ON COLUMN report_costs.jobs IS 'Requests for reports.';
COMMENT ON COLUMN report_costs.usd IS 'US dollars, as far as jobs say.';
COMMENT ON COLUMN report_costs.jobs_without_cost IS 'Ended jobs that do not say.';
COMMENT ON COLUMN report_costs.searches IS 'That the agent says it made.';
COMMENT ON COLUMN report_costs.people_reports IS 'Reports whose cost a person entered.';
COMMENT ON COLUMN report_costs.people_usd IS 'US dollars that people entered.';
COMMENT ON COLUMN report_costs.people_minutes IS 'Minutes that people entered.';

COMMENT ON VIEW page_counts IS
    'What became of the pages that reports cite, a line per status and way.';
COMMENT ON COLUMN page_counts.status IS 'ok, why it is not, or `not fetched`.';
COMMENT ON COLUMN page_counts.source IS 'published, direct, jina or wayback.';
COMMENT ON COLUMN page_counts.pages IS 'Different pages.';
COMMENT ON COLUMN page_counts.citations IS '(Claim, URL) pairs that cite them.';
COMMENT ON COLUMN page_counts.redirected IS 'Pages that led to another address.';
COMMENT ON COLUMN page_counts.bytes IS 'Of what was fetched.';

COMMENT ON VIEW cited_claims IS
    'What became of each cited claim of the judged reports (Wiki Fact).';
COMMENT ON COLUMN cited_claims.number IS 'The claim''s.';
COMMENT ON COLUMN cited_claims.outcome IS
    'support (any page supports it), conflict, not_support, never_fetched, not_assessed, or else
    its pages'' status (`several`: more than one).';
COMMENT ON COLUMN cited_claims.pairs IS 'Pages it cites.';
COMMENT ON COLUMN cited_claims.decided_pairs IS 'Of these, decided ones.';
COMMENT ON COLUMN cited_claims.supported_pairs IS 'Of these, supporting ones.';
COMMENT ON COLUMN cited_claims.pairs_from_excerpts IS
    'Decided pairs of which the judge saw a part of the page.';

COMMENT ON VIEW reference_counts IS
    'Per agent and judge, every claim in its place. claims = untrusted + uncited + cited; cited =
    evaluated + never_fetched + not_assessed + without_page.';
COMMENT ON COLUMN reference_counts.reports IS 'Reports that were judged.';
COMMENT ON COLUMN reference_counts.claims IS 'Their claims.';
COMMENT ON COLUMN reference_counts.untrusted IS
    'Claims of reports whose (claim, URL) pairs cannot be trusted.';
COMMENT ON COLUMN reference_counts.uncited IS 'Claims without a citation.';
COMMENT ON COLUMN reference_counts.cited IS 'Claims with one.';
COMMENT ON COLUMN reference_counts.evaluated IS 'Cited claims with a decided page.';
COMMENT ON COLUMN reference_counts.supported IS 'Of these, supported by a page.';
COMMENT ON COLUMN reference_counts.conflict IS
    'Of these, contradicted by a page and supported by none.';
COMMENT ON COLUMN reference_counts.not_supported IS 'The rest of these.';
COMMENT ON COLUMN reference_counts.never_fetched IS
    'Cited claims with a page that was never tried.';
COMMENT ON COLUMN reference_counts.not_assessed IS
    'Cited claims that the judge could not answer for a page that came.';
COMMENT ON COLUMN reference_counts.without_page IS
    'Cited claims whose pages were all tried in vain; the columns below tell them apart.';
COMMENT ON COLUMN reference_counts.unfetchable IS 'Of these, claims whose pages are `unfetchable`.';
COMMENT ON COLUMN reference_counts.bot_wall IS 'Of these, claims whose pages are `bot_wall`.';
COMMENT ON COLUMN reference_counts.login_wall IS 'Of these, claims whose pages are `login_wall`.';
COMMENT ON COLUMN reference_counts.cookie_wall IS 'Of these, claims whose pages are `cookie_wall`.';
COMMENT ON COLUMN reference_counts.soft_404 IS 'Of these, claims whose pages are `soft_404`.';
COMMENT ON COLUMN reference_counts.empty IS 'Of these, claims whose pages are `empty`.';
COMMENT ON COLUMN reference_counts.too_large IS 'Of these, claims whose pages are `too_large`.';
COMMENT ON COLUMN reference_counts.refused IS 'Of these, claims whose pages are `refused`.';
COMMENT ON COLUMN reference_counts.robots IS 'Of these, claims whose pages are `robots`.';
COMMENT ON COLUMN reference_counts.unreadable IS 'Of these, claims whose pages are `unreadable`.';
COMMENT ON COLUMN reference_counts.several IS
    'Of these, claims whose pages have different statuses.';
COMMENT ON COLUMN reference_counts.strict IS
    'evaluated + without_page: what ref_acc_strict is a share of.';
COMMENT ON COLUMN reference_counts.ref_acc IS 'supported / evaluated, 0-1.';
COMMENT ON COLUMN reference_counts.ref_acc_strict IS 'supported / strict, 0-1.';
COMMENT ON COLUMN reference_counts.pairs IS '(Claim, URL) pairs.';
COMMENT ON COLUMN reference_counts.decided_pairs IS 'Of these, decided ones.';
COMMENT ON COLUMN reference_counts.supported_pairs IS 'Of these, supporting ones.';
COMMENT ON COLUMN reference_counts.pairs_from_excerpts IS
    'Decided pairs of which the judge saw a part of the page.';

COMMENT ON TABLE warehouse_info IS 'The file itself: one row.';
COMMENT ON COLUMN warehouse_info.warehouse_id IS 'Made once, when the file was.';
COMMENT ON COLUMN warehouse_info.schema_version IS
    'The newest of tasks/warehouse/sql that it has been through.';
