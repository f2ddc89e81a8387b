-- Views for queries. `evergreen schema` lists them and their columns with their comments, in which
-- line breaks are ignored. Columns that mean the same everywhere (edition, agent, judge, …) are
-- described in tasks/warehouse/descriptions.py. Money is summed in a fixed order.

CREATE VIEW current_verdicts AS
SELECT v.*
FROM verdicts AS v
WHERE v.cell_id IN (SELECT DISTINCT cell_id FROM scores WHERE cell_id IS NOT NULL);
COMMENT ON VIEW current_verdicts IS
    'Every verdict behind a figure: those of the cells that the scores name.';

-- Views about the two Wiki protocols read only these.
CREATE VIEW leaderboard_wide AS
SELECT
    edition,
    agent,
    judge,
    max(value) FILTER (WHERE metric = 'coverage_wiki') AS coverage_wiki,
    max(value) FILTER (WHERE metric = 'coverage_wiki_soft') AS coverage_wiki_soft,
    max(value) FILTER (WHERE metric = 'wiki_conflict') AS wiki_conflict,
    max(value) FILTER (WHERE metric = 'ref_acc') AS ref_acc,
    max(value) FILTER (WHERE metric = 'ref_acc_readable') AS ref_acc_readable,
    max(value) FILTER (WHERE metric = 'evaluated_share') AS evaluated_share,
    max(value) FILTER (WHERE metric = 'leakage_rate') AS leakage_rate,
    max(value) FILTER (WHERE metric = 'writing_overall') AS writing_overall,
    bool_or(provisional) AS provisional
FROM leaderboard
WHERE protocol IN ('wiki_fact', 'wiki_writing')
GROUP BY edition, agent, judge
ORDER BY edition, judge, coverage_wiki_soft DESC NULLS LAST, agent;
COMMENT ON VIEW leaderboard_wide IS
    'The Wiki Fact and Wiki Writing figures side by side, one row per agent and judge; shares 0-1.';
COMMENT ON COLUMN leaderboard_wide.coverage_wiki IS
    'Share of the reference article''s facts that the report states.';
COMMENT ON COLUMN leaderboard_wide.coverage_wiki_soft IS
    'Mean probability that the report states a fact of the reference article.';
COMMENT ON COLUMN leaderboard_wide.wiki_conflict IS
    'Share of claims that contradict the reference article.';
COMMENT ON COLUMN leaderboard_wide.ref_acc IS
    'Share of (claim, URL) pairs whose page supports the claim; unreadable pages count.';
COMMENT ON COLUMN leaderboard_wide.ref_acc_readable IS
    'Share of the claims with a fetched page that a cited page supports.';
COMMENT ON COLUMN leaderboard_wide.evaluated_share IS
    'Share of cited claims with a fetched page.';
COMMENT ON COLUMN leaderboard_wide.leakage_rate IS
    'Share of claims that cite the target article itself.';
COMMENT ON COLUMN leaderboard_wide.writing_overall IS
    'Share of the writing criteria on which the report beats the reference article.';
COMMENT ON COLUMN leaderboard_wide.provisional IS 'Whether a figure may still change.';

CREATE VIEW fact_verdicts AS
SELECT
    v.edition, v.agent, v.assignment, v.judge,
    f.number AS fact_number, f.section, f.text AS fact,
    v.label, v.score, v.status, v.evidence, v.reason
FROM current_verdicts AS v
JOIN assignments AS a ON a.edition = v.edition AND a.assignment = v.assignment
JOIN facts AS f
    ON f.edition = v.edition AND f.article = a.article AND v.item = 'fact:' || f.number
WHERE v.protocol = 'wiki_fact' AND v.step = 'coverage';
COMMENT ON VIEW fact_verdicts IS
    'Each fact of the reference article with the verdict on each report (Wiki Fact).';
COMMENT ON COLUMN fact_verdicts.label IS
    '`consistent` (the report states the fact), `not_support` or `inconsistent`.';

CREATE VIEW judging_costs AS
WITH asked AS (
    SELECT DISTINCT v.edition, v.judge, v.protocol, v.agent, v.assignment, c.request_id
    FROM (SELECT *, unnest([call_id, refused_call]) AS asked FROM verdicts) AS v
    JOIN calls AS c ON c.call_id = v.asked
)
SELECT
    a.edition, a.judge, a.protocol, a.agent,
    count(DISTINCT a.assignment) AS reports,
    count(*) AS calls,
    sum(c.prompt_tokens) AS prompt_tokens,
    sum(c.cached_tokens) AS cached_tokens,
    sum(c.cache_write_tokens) AS cache_write_tokens,
    sum(c.output_tokens) AS output_tokens,
    sum(c.thinking_tokens) AS thinking_tokens,
    sum(c.cost_usd ORDER BY c.call_id) AS cost_usd,
    count(*) FILTER (c.cost_usd IS NULL AND c.status <> 'failed') AS calls_without_price,
    sum(c.cost_usd ORDER BY c.call_id) / count(DISTINCT a.assignment) AS usd_per_report
FROM asked AS a JOIN calls AS c ON c.request_id = a.request_id
GROUP BY ALL
ORDER BY a.edition, a.judge, a.protocol, a.agent;
COMMENT ON VIEW judging_costs IS
    'The cost of judging, one row per agent, protocol and judge: every paid attempt behind a stored
    verdict, also of the judge''s fallback. Calls of failed cells are only in `calls`.';
COMMENT ON COLUMN judging_costs.reports IS 'Reports that calls were made for.';
COMMENT ON COLUMN judging_costs.calls IS 'Model calls; one that decided several items counts once.';
COMMENT ON COLUMN judging_costs.calls_without_price IS
    'Of these, calls whose price is unknown; cost_usd leaves them out.';
COMMENT ON COLUMN judging_costs.usd_per_report IS 'cost_usd / reports.';

-- The rank by reference URLs plus the rank by headings, lowest sum first; ties by
-- bytes, then page id. With `spread`, the best article of every category comes before the second
-- best of any. The first `n_articles` places are the edition.
-- Formula 2: with `spread`, articles of unknown category take no turns, but come after all others.
CREATE VIEW candidate_ranking AS
WITH ranked AS (
    SELECT c.*, n.n_articles, n.spread, c.created_at < n.last_until IS TRUE AS is_leftover,
        n.spread AND n.formula_version <> '1' AND c.category = 'unknown' AS is_last,
        rank() OVER (PARTITION BY c.edition ORDER BY c.reference_urls DESC) AS reference_rank,
        rank() OVER (PARTITION BY c.edition ORDER BY c.headings DESC) AS heading_rank
    FROM candidates AS c JOIN collections AS n USING (edition)
    WHERE c.revision_id IS NOT NULL
        AND (c.decision IS NULL OR c.decision IN ('chosen', 'outranked'))
),
scored AS (
    SELECT *, reference_rank + heading_rank AS score,
        row_number() OVER (
            PARTITION BY edition, category
            ORDER BY reference_rank + heading_rank, bytes DESC, page_id
        ) AS turn
    FROM ranked
)
SELECT *,
    row_number() OVER (
        PARTITION BY edition
        ORDER BY is_last, CASE WHEN spread THEN turn ELSE 0 END, score, bytes DESC, page_id
    ) AS place
FROM scored
ORDER BY edition, place;
COMMENT ON VIEW candidate_ranking IS
    'The reproducible choice of a collected edition''s articles: the first n_articles places are
    the edition.';
COMMENT ON COLUMN candidate_ranking.n_articles IS 'The number of articles to choose.';
COMMENT ON COLUMN candidate_ranking.spread IS 'Whether the choice alternates between categories.';
COMMENT ON COLUMN candidate_ranking.is_leftover IS
    'Whether it was created before the window of the last edition ended.';
COMMENT ON COLUMN candidate_ranking.is_last IS 'Whether it takes no turn: its category is unknown.';
COMMENT ON COLUMN candidate_ranking.reference_rank IS 'Rank by reference URLs; 1 has the most.';
COMMENT ON COLUMN candidate_ranking.heading_rank IS 'Rank by headings; 1 has the most.';
COMMENT ON COLUMN candidate_ranking.score IS 'The sum of both ranks; lower is better.';
COMMENT ON COLUMN candidate_ranking.turn IS 'The place within its category.';
COMMENT ON COLUMN candidate_ranking.place IS 'The place in the choice.';

CREATE VIEW shared_articles AS
WITH named AS (
    SELECT edition, article, url, page_id, split_part(url, '/', 3) AS wiki FROM articles
)
SELECT a.edition, a.article, b.edition AS other
FROM named AS a JOIN named AS b ON b.url = a.url AND b.edition <> a.edition
UNION
SELECT a.edition, a.article, b.edition AS other
FROM named AS a JOIN named AS b
    ON b.page_id = a.page_id AND b.wiki = a.wiki AND b.edition <> a.edition;
COMMENT ON VIEW shared_articles IS
    'Articles that several editions have, a row for each other edition.';
COMMENT ON COLUMN shared_articles.other IS 'Another edition that has the article.';

CREATE VIEW report_costs AS
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
COMMENT ON VIEW report_costs IS
    'The cost of reports, one row per agent and edition: everything that was paid, including jobs
    without a report.';
COMMENT ON COLUMN report_costs.asked_reports IS 'Assignments with a finished job.';
COMMENT ON COLUMN report_costs.jobs IS 'Requests for reports.';
COMMENT ON COLUMN report_costs.usd IS 'US dollars, as far as the jobs'' costs are known.';
COMMENT ON COLUMN report_costs.jobs_without_cost IS 'Ended jobs whose cost is unknown.';
COMMENT ON COLUMN report_costs.searches IS 'Searches that the agent says it made.';
COMMENT ON COLUMN report_costs.people_reports IS 'Reports whose cost a person entered.';
COMMENT ON COLUMN report_costs.people_usd IS 'US dollars that people entered.';
COMMENT ON COLUMN report_costs.people_minutes IS 'Minutes that people entered.';

-- Cited pages by status and source.
CREATE VIEW page_counts AS
SELECT c.edition, coalesce(p.status, 'not fetched') AS status,
    CASE WHEN p.url IS NOT NULL THEN coalesce(p.source, 'published') END AS source,
    count(*) AS pages, sum(c.citations)::BIGINT AS citations,
    count(p.final_url) AS redirected, sum(f.n_bytes)::BIGINT AS bytes
FROM (SELECT edition, url, count(*) AS citations FROM citations GROUP BY ALL) AS c
LEFT JOIN pages AS p USING (edition, url)
LEFT JOIN fetches AS f ON f.edition = c.edition AND f.url = c.url AND f.source = p.source
GROUP BY ALL
ORDER BY c.edition, pages DESC, status, source;
COMMENT ON VIEW page_counts IS 'Cited pages, one row per status and source.';
COMMENT ON COLUMN page_counts.status IS
    '`ok`, why the page is unusable, or `not fetched`.';
COMMENT ON COLUMN page_counts.source IS 'published, direct, jina or wayback.';
COMMENT ON COLUMN page_counts.pages IS 'Distinct pages.';
COMMENT ON COLUMN page_counts.citations IS '(Claim, URL) pairs that cite them.';
COMMENT ON COLUMN page_counts.redirected IS 'Pages that redirected to another URL.';
COMMENT ON COLUMN page_counts.bytes IS 'Bytes fetched.';

CREATE VIEW withheld_pages AS
SELECT DISTINCT s.edition, s.url
FROM seed_pages AS s
WHERE NOT EXISTS (
    SELECT 1 FROM citations AS c
    WHERE c.edition = s.edition AND c.url = s.url AND c.agent NOT IN (
        SELECT g.agent FROM seed_pages AS g WHERE g.edition = s.edition)
)
UNION
SELECT d.edition, d.url FROM clicked_documents AS d
ANTI JOIN citations AS c ON c.edition = d.edition AND c.url = d.url;
COMMENT ON VIEW withheld_pages IS
    'Pages that only agents cite which were given the articles'' sources, and documents that people '
    'clicked and no report cites: no other agent gets them.';

-- Figures rest on finished cells. A report with open verdicts has none, but its other verdicts
-- are there: those of the newest cell with as many open items as its score says.
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
COMMENT ON VIEW verdicts_at_hand IS
    'Every current verdict, and the verdicts so far on reports that still have open ones.';

-- 404, 410 and "no such host" are gone addresses (as in tasks/archive/lost_addresses.py).
CREATE VIEW page_states AS
WITH live AS (
    SELECT edition, url, http_status,
        http_status IN (404, 410) OR contains(error, 'there is no host') AS absent
    FROM fetches WHERE source = 'direct'
)
SELECT c.edition, c.url,
    CASE
        WHEN p.status IS NULL THEN 'open'
        WHEN p.status = 'ok' THEN 'read'
        WHEN p.status IN ('bot_wall', 'login_wall', 'cookie_wall', 'robots') THEN 'walled'
        WHEN p.status = 'soft_404' THEN 'missing'
        WHEN p.status <> 'unfetchable' THEN 'unreadable'
        WHEN f.absent THEN CASE WHEN a.state IN ('gone', 'never_existed')
            THEN a.state ELSE 'missing' END
        WHEN f.http_status IN (401, 402, 403) THEN 'walled'
        ELSE 'unreadable'
    END AS state,
    coalesce(f.absent AND (a.state = 'gone' OR p.source = 'wayback'
        AND p.status NOT IN ('unfetchable', 'refused', 'robots')), false) AS gone
FROM (SELECT DISTINCT edition, url FROM citations) AS c
LEFT JOIN pages AS p USING (edition, url)
LEFT JOIN live AS f USING (edition, url)
LEFT JOIN absent_pages AS a USING (edition, url);
COMMENT ON VIEW page_states IS 'Where each cited page stands, whoever judges it.';
COMMENT ON COLUMN page_states.state IS
    '`read`, `walled` (a robot test, a login, robots.txt, HTTP 401 to 403), `unreadable` (no usable
    answer at two looks, or no text), `gone` (its live address is gone, an archive has it),
    `never_existed`, `missing` (its address is gone, nothing more is known) or `open` (not fetched
    yet).';
COMMENT ON COLUMN page_states.gone IS
    'Whether the live address is gone and an archive has the page; if `read`, its text is that copy.';

-- In DeepResearchGym a claim is judged by all its pages together: its state is that of each page
-- that was read. FACT judges statements that say the same once (`double`).
CREATE VIEW citation_states AS
WITH reports_begun AS (
    SELECT DISTINCT s.edition, s.protocol, s.judge, s.agent, s.assignment, s.state
    FROM scores AS s JOIN extractions AS x USING (edition, agent, assignment)
    WHERE s.protocol IN ('wiki_fact', 'research_gym', 'fact') AND x.pairs_reliable
        AND s.state IN ('done', 'pending', 'failed')
), said AS (
    SELECT edition, protocol, judge, agent, assignment, item, status, label, shown_share,
        CASE WHEN step = 'double' THEN regexp_extract(reason, '\d+$')
            || regexp_extract(item, ' .*$') END AS same
    FROM verdicts_at_hand
    WHERE protocol IN ('wiki_fact', 'research_gym', 'fact') AND step IN ('citation', 'double')
), answers AS (
    SELECT s.edition, s.protocol, s.judge, s.agent, s.assignment, s.item,
        coalesce(o.status, s.status) AS status, coalesce(o.label, s.label) AS label,
        coalesce(o.shown_share, s.shown_share) AS shown_share
    FROM said AS s LEFT JOIN said AS o
        ON o.edition = s.edition AND o.protocol = s.protocol AND o.judge = s.judge
        AND o.agent = s.agent AND o.assignment = s.assignment AND o.item = 'claim:' || s.same
), pairs AS (
    SELECT r.edition, r.protocol, r.judge, r.agent, r.assignment, r.state = 'done' AS finished,
        z.number AS claim_number, z.url, z.kind, p.state AS page_state, p.gone,
        coalesce(v.status, CASE WHEN r.state = 'done' THEN 'skipped' END) AS status,
        v.label, v.shown_share
    FROM reports_begun AS r
    JOIN citations AS z USING (edition, agent, assignment)
    JOIN page_states AS p USING (edition, url)
    LEFT JOIN answers AS v
        ON v.edition = r.edition AND v.protocol = r.protocol AND v.judge = r.judge
        AND v.agent = r.agent AND v.assignment = r.assignment
        AND v.item = 'claim:' || z.number
            || CASE WHEN r.protocol = 'research_gym' THEN '' ELSE ' ' || z.url END
    WHERE (r.protocol = 'wiki_fact' OR z.kind <> 'inferred')
        -- A judge that does not read pages says nothing of any.
        AND (r.state <> 'done' OR (r.edition, r.protocol, r.judge, r.agent, r.assignment)
            IN (SELECT (edition, protocol, judge, agent, assignment) FROM said))
)
SELECT edition, protocol, judge, agent, assignment, claim_number, url, kind,
    CASE
        WHEN protocol = 'research_gym' AND page_state <> 'read' THEN page_state
        WHEN status = 'ok' AND label IN ('support', 'supported', 'full', 'partial') THEN 'supports'
        WHEN status = 'ok' AND label = 'conflict' THEN 'contradicts'
        WHEN status = 'ok' AND label = 'unknown' THEN 'unreadable'
        WHEN status = 'ok' THEN 'does_not_support'
        WHEN status IN ('blocked', 'not_assessed') THEN 'refused'
        WHEN status IN ('skipped', 'judge_error', 'unparsable') THEN 'open'
        WHEN page_state <> 'read' THEN page_state
        WHEN status = 'unfetchable' THEN 'unreadable'
        ELSE 'open'
    END AS state,
    gone, shown_share, finished
FROM pairs;
COMMENT ON VIEW citation_states IS
    'Where each citation, a (claim, URL) pair, stands by each protocol and judge: exactly one
    state.';
COMMENT ON COLUMN citation_states.kind IS 'Why the claim is said to cite the page; see `citations`.';
COMMENT ON COLUMN citation_states.state IS
    '`supports` (in DeepResearchGym and FACT also in part), `contradicts`, `does_not_support` (the
    judge read it), `refused` (the judge did not answer), `walled`, `unreadable` (also FACT''s
    unknown), `gone`, `never_existed`, `missing` (unknown) or `open`; see page_states.';
COMMENT ON COLUMN citation_states.gone IS
    'Whether the live address is gone and an archive has the page: a verdict rests on that copy.';
COMMENT ON COLUMN citation_states.finished IS
    'Whether the report is judged in full, so that its figures count it.';

CREATE VIEW cited_claims AS
SELECT edition, agent, assignment, judge, claim_number AS number,
    arg_min(state, list_position(
        ['supports', 'contradicts', 'does_not_support', 'open', 'refused', 'walled', 'unreadable',
         'gone', 'never_existed', 'missing'], state)) AS outcome,
    bool_or(state = 'supports') AND bool_or(state = 'contradicts') AS disputed,
    count(*) FILTER (state NOT IN ('open', 'refused')) AS counted_pairs,
    count(*) FILTER (state = 'supports') AS supported_pairs,
    count(*) FILTER (state IN ('supports', 'contradicts', 'does_not_support')
        AND shown_share IS NOT NULL) AS pairs_from_excerpts
FROM citation_states
WHERE protocol = 'wiki_fact' AND finished
GROUP BY ALL;
COMMENT ON VIEW cited_claims IS
    'The outcome of each cited claim in the judged reports (Wiki Fact), without reports with open
    verdicts, as in the figures.';
COMMENT ON COLUMN cited_claims.outcome IS
    'The first state that any of its citations has, of supports, contradicts, does_not_support,
    open, refused, walled, unreadable, gone, never_existed, missing.';

CREATE VIEW reference_counts AS
WITH judged AS (
    SELECT DISTINCT s.edition, s.agent, s.assignment, s.judge, x.pairs_reliable
    FROM scores AS s
    JOIN extractions AS x USING (edition, agent, assignment)
    WHERE s.protocol = 'wiki_fact' AND s.cell_id IS NOT NULL
), every AS (
    SELECT j.edition, j.agent, j.assignment, j.judge, j.pairs_reliable,
        c.outcome, c.disputed, c.counted_pairs, c.supported_pairs, c.pairs_from_excerpts,
        c.outcome IN ('supports', 'contradicts', 'does_not_support') AS evaluated,
        c.outcome IN ('walled', 'unreadable', 'gone', 'never_existed', 'missing') AS without_page
    FROM judged AS j
    JOIN claims AS k USING (edition, agent, assignment)
    LEFT JOIN cited_claims AS c
        ON c.edition = j.edition AND c.agent = j.agent AND c.assignment = j.assignment
        AND c.judge = j.judge AND c.number = k.number
)
SELECT edition, agent, judge,
    count(DISTINCT assignment) AS reports,
    count(*) AS claims,
    count(*) FILTER (NOT pairs_reliable) AS untrusted,
    count(*) FILTER (pairs_reliable AND outcome IS NULL) AS uncited,
    count(outcome) AS cited,
    count(*) FILTER (evaluated) AS evaluated,
    count(*) FILTER (outcome = 'supports') AS supported,
    count(*) FILTER (outcome = 'contradicts') AS contradicted,
    count(*) FILTER (outcome = 'does_not_support') AS not_supported,
    count(*) FILTER (disputed) AS disputed,
    count(*) FILTER (outcome = 'open') AS open,
    count(*) FILTER (outcome = 'refused') AS refused,
    count(*) FILTER (without_page) AS without_page,
    coalesce(sum(counted_pairs), 0)::BIGINT AS counted_pairs,
    coalesce(sum(supported_pairs), 0)::BIGINT AS supported_pairs,
    coalesce(sum(pairs_from_excerpts), 0)::BIGINT AS pairs_from_excerpts,
    sum(supported_pairs) / nullif(sum(counted_pairs), 0) AS ref_acc,
    count(*) FILTER (outcome = 'supports') / nullif(count(*) FILTER (evaluated), 0)
        AS ref_acc_readable,
    count(*) FILTER (outcome = 'supports')
        / nullif(count(*) FILTER (evaluated OR without_page), 0) AS ref_acc_claims
FROM every
GROUP BY ALL
ORDER BY edition, judge, agent;
COMMENT ON VIEW reference_counts IS
    'Claim counts per agent and judge. claims = untrusted + uncited + cited; cited = evaluated +
    open + refused + without_page; evaluated = supported + contradicted + not_supported. The
    leaderboard has the means of the reports'' shares.';
COMMENT ON COLUMN reference_counts.reports IS 'Judged reports.';
COMMENT ON COLUMN reference_counts.claims IS 'Their claims.';
COMMENT ON COLUMN reference_counts.untrusted IS
    'Claims of reports whose (claim, URL) pairs are unreliable.';
COMMENT ON COLUMN reference_counts.uncited IS
    'Claims without a citation; uncited_share also counts those with borrowed ones alone.';
COMMENT ON COLUMN reference_counts.cited IS 'Claims with a citation.';
COMMENT ON COLUMN reference_counts.evaluated IS
    'Cited claims with a verdict on at least one page.';
COMMENT ON COLUMN reference_counts.supported IS 'Of these, claims that a page supports.';
COMMENT ON COLUMN reference_counts.contradicted IS
    'Of these, claims that a page contradicts and none supports.';
COMMENT ON COLUMN reference_counts.not_supported IS 'The other evaluated claims.';
COMMENT ON COLUMN reference_counts.open IS
    'Cited claims without a verdict, with a page that nobody has tried to fetch.';
COMMENT ON COLUMN reference_counts.refused IS
    'Cited claims that the judge did not answer on a fetched page.';
COMMENT ON COLUMN reference_counts.without_page IS
    'Cited claims none of whose pages can be read; citation_states says why.';
COMMENT ON COLUMN reference_counts.ref_acc IS 'supported_pairs / counted_pairs, 0-1, pooled.';
COMMENT ON COLUMN reference_counts.ref_acc_readable IS 'supported / evaluated, 0-1, pooled.';
COMMENT ON COLUMN reference_counts.ref_acc_claims IS
    'supported / (evaluated + without_page), 0-1, pooled.';

-- The id is that of `report_id` in tasks/warehouse/explanations.py: the sha-256 of the parts, each
-- prefixed with its length in bytes.
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
COMMENT ON VIEW report_index IS
    'Every report: its id and how much it contains. `evergreen explain ID` shows one in
    full.';
COMMENT ON COLUMN report_index.report IS
    'The report''s id: the start of a sha-256 of edition, agent and assignment.';
COMMENT ON COLUMN report_index.kind IS
    'The kind of assignment: write_article, find_claims or research.';
COMMENT ON COLUMN report_index.status IS
    'ok, empty, clarification (the agent asked back) or scanned (pictures without text).';
COMMENT ON COLUMN report_index.n_characters IS 'Characters of the report''s text.';
COMMENT ON COLUMN report_index.n_claims IS 'Claims extracted from the report.';
COMMENT ON COLUMN report_index.n_citations IS '(Claim, URL) pairs.';
COMMENT ON COLUMN report_index.n_facts IS 'Facts of the reference article; 0 if there is none.';

CREATE VIEW coverage_by_fact AS
SELECT
    v.edition, a.article, t.title, v.section, v.fact_number, v.fact, v.judge,
    count(DISTINCT v.agent) FILTER (v.status = 'ok') AS n_agents,
    count(DISTINCT v.agent) FILTER (v.status = 'ok' AND v.label = 'consistent') AS n_covered,
    n_covered / nullif(n_agents, 0) AS share
FROM fact_verdicts AS v
JOIN assignments AS a ON a.edition = v.edition AND a.assignment = v.assignment
LEFT JOIN articles AS t ON t.edition = a.edition AND t.article = a.article
GROUP BY ALL
ORDER BY v.edition, a.article, v.fact_number, v.judge;
COMMENT ON VIEW coverage_by_fact IS
    'Each fact of the reference articles with the number of agents whose reports state it (Wiki
    Fact). Reports with open verdicts are left out.';
COMMENT ON COLUMN coverage_by_fact.n_agents IS 'Agents with a verdict on this fact.';
COMMENT ON COLUMN coverage_by_fact.n_covered IS 'Of these, agents whose report states the fact.';
COMMENT ON COLUMN coverage_by_fact.share IS
    'n_covered / n_agents, 0-1; null if there is no verdict.';

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
COMMENT ON VIEW coverage_by_section IS
    'Coverage by section of the article: what agents miss and what they find.';
COMMENT ON COLUMN coverage_by_section.n_facts IS 'Facts in the section.';
COMMENT ON COLUMN coverage_by_section.n_agents IS
    'Agents with a verdict, for the fact that has most.';
COMMENT ON COLUMN coverage_by_section.n_decided IS 'Verdicts, over all facts and agents.';
COMMENT ON COLUMN coverage_by_section.n_covered IS 'Of these, facts that the report states.';
COMMENT ON COLUMN coverage_by_section.share IS
    'n_covered / n_decided, 0-1; null if there is no verdict.';

-- The cost of reports and of judging, computed only here. Each sum comes with how complete it is:
-- `known`, `free` (known to be 0), `at least` (part of it is unknown) or `unknown`.
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
        -- No verdict records what a failed cell cost.
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
COMMENT ON VIEW cost_by_agent IS
    'The cost of an agent''s reports, and of judging them, by judge. Unknown costs are null,
    never 0.';
COMMENT ON COLUMN cost_by_agent.reports IS 'The agent''s reports.';
COMMENT ON COLUMN cost_by_agent.priced_reports IS
    'Of these, reports whose jobs all have a known cost, or whose cost a person entered.';
COMMENT ON COLUMN cost_by_agent.report_usd IS
    'US dollars paid to the agent, including jobs without a report, and amounts people entered.';
COMMENT ON COLUMN cost_by_agent.report_cost IS
    'How complete report_usd is: `known`, `free` (known to be 0), `at least` (part of it is
    unknown) or `unknown`.';
COMMENT ON COLUMN cost_by_agent.usd_per_report IS
    'report_usd / reports; null unless all costs are known.';
COMMENT ON COLUMN cost_by_agent.judged_reports IS
    'Reports that the judge has judged, or begun to judge, under any protocol.';
COMMENT ON COLUMN cost_by_agent.judging_calls IS
    'Model calls behind the judge''s verdicts, including repeated ones.';
COMMENT ON COLUMN cost_by_agent.unpriced_calls IS 'Of these, calls whose price is unknown.';
COMMENT ON COLUMN cost_by_agent.judging_usd IS
    'US dollars for these calls, as far as their prices are known.';
COMMENT ON COLUMN cost_by_agent.judging_cost IS
    'How complete judging_usd is: as report_cost, or `no calls` if no model was called here (the
    offline judge, or imported verdicts). Also `at least` if a cell failed: only `calls` has its
    cost.';
COMMENT ON COLUMN cost_by_agent.judging_usd_per_report IS
    'judging_usd / judged_reports; null unless all costs are known.';

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
    s.model_version, s.prompt_sha, s.attempt, s.call_id, s.decided_by, s.refused_call
FROM said AS s
LEFT JOIN assignments AS a ON a.edition = s.edition AND a.assignment = s.assignment
LEFT JOIN claims AS c
    ON c.edition = s.edition AND c.agent = s.agent AND c.assignment = s.assignment
    AND c.number = s.claim_number
LEFT JOIN facts AS f
    ON f.edition = s.edition AND f.article = a.article AND f.number = s.fact_number
LEFT JOIN pages AS p ON p.edition = s.edition AND p.url = s.url;
COMMENT ON VIEW verdicts_explained IS
    'Every current verdict with the claim or fact it is about, its page, and its origin.';
COMMENT ON COLUMN verdicts_explained.url IS 'The cited page, if it is about one.';
COMMENT ON COLUMN verdicts_explained.page_status IS
    'That page''s status (`ok`, or why it is unusable), or `not fetched`.';

-- The scores of a cell with open verdicts have their number in `reason`.
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
COMMENT ON VIEW open_items IS
    'Reports with open or pending verdicts. Scores made by an earlier version are not listed:
    `evaluate` recomputes them without calling a model.';
COMMENT ON COLUMN open_items.state IS
    '`pending`: the cell has not been judged; `failed`: the cell failed and will be retried;
    `open`: the cell has been judged, but pages or answers are missing.';
COMMENT ON COLUMN open_items.n_open IS
    'Open items of the metric that has most; 0 if the whole cell is pending or failed.';
COMMENT ON COLUMN open_items.reason IS 'What is missing.';

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
COMMENT ON VIEW failures_by_agent IS
    'The number of failures in an agent''s reports, by kind. They are not scores.';
COMMENT ON COLUMN failures_by_agent.stage IS
    'The stage: report (requesting it), import, page (a cited one), cell (judging a report) or
    verdict.';
COMMENT ON COLUMN failures_by_agent.failure IS 'The state or status in that stage''s table.';
COMMENT ON COLUMN failures_by_agent.n IS 'The number of failures.';
COMMENT ON COLUMN failures_by_agent.example IS 'One of the messages; null if there is none.';
