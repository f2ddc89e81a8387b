-- The frozen web: what was fetched, how, and what it says.

CREATE TABLE fetches (
    edition VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    asked_url VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    final_url VARCHAR,
    redirects VARCHAR NOT NULL,
    http_status INTEGER,
    headers VARCHAR NOT NULL,
    sha VARCHAR,
    n_bytes BIGINT,
    tries INTEGER NOT NULL,
    error VARCHAR,
    fetched_at TIMESTAMP NOT NULL,
    seconds DOUBLE NOT NULL
);

ALTER TABLE pages ADD COLUMN source VARCHAR;
ALTER TABLE pages ADD COLUMN final_url VARCHAR;
ALTER TABLE pages ADD COLUMN language VARCHAR;
ALTER TABLE pages ADD COLUMN published_on DATE;
ALTER TABLE pages ADD COLUMN media_type VARCHAR;
ALTER TABLE pages ADD COLUMN signals VARCHAR;
ALTER TABLE pages ADD COLUMN reader VARCHAR;

ALTER TABLE verdicts ADD COLUMN shown_share DOUBLE;

-- What became of the pages that reports cite, a row per status and way.
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

CREATE OR REPLACE VIEW current_verdicts AS
SELECT v.*
FROM verdicts AS v
WHERE v.cell_id IN (SELECT DISTINCT cell_id FROM scores WHERE cell_id IS NOT NULL);

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
WHERE v.step = 'citation';

-- What became of each cited claim: one label of those of its pages (any support is support, else
-- any conflict is conflict), or else why it has none. Reports with answers still open are left
-- out, as they are from the figures.
CREATE VIEW cited_claims AS
WITH judged AS (
    SELECT DISTINCT s.edition, s.agent, s.assignment, s.judge, s.cell_id
    FROM scores AS s
    JOIN extractions AS x USING (edition, agent, assignment)
    WHERE s.protocol = 'wiki_fact' AND s.cell_id IS NOT NULL AND x.pairs_reliable
), pairs AS (
    SELECT j.edition, j.agent, j.assignment, j.judge, z.number,
        coalesce(v.status, 'skipped') AS status, v.label, v.shown_share,
        -- A page that came but holds no text that this judge can read.
        CASE WHEN v.status = 'unfetchable' AND p.status = 'ok' THEN 'empty' ELSE p.status END
            AS page_status
    FROM judged AS j
    JOIN citations AS z USING (edition, agent, assignment)
    LEFT JOIN verdicts AS v
        ON v.cell_id = j.cell_id AND v.step = 'citation'
        AND v.item = 'claim:' || z.number || ' ' || z.url
    LEFT JOIN pages AS p ON p.edition = z.edition AND p.url = z.url
)
SELECT edition, agent, assignment, judge, number,
    CASE
        WHEN bool_or(status = 'ok' AND label = 'support') THEN 'support'
        WHEN bool_or(status = 'ok' AND label = 'conflict') THEN 'conflict'
        WHEN bool_or(status = 'ok') THEN 'not_support'
        WHEN bool_or(status = 'skipped') THEN 'never_fetched'
        WHEN bool_or(status IN ('blocked', 'not_assessed')) THEN 'not_assessed'
        WHEN count(DISTINCT page_status) > 1 THEN 'several'
        ELSE min(page_status)
    END AS outcome,
    count(*) AS pairs,
    count(*) FILTER (status = 'ok') AS decided_pairs,
    count(*) FILTER (status = 'ok' AND label = 'support') AS supported_pairs,
    count(*) FILTER (status = 'ok' AND shown_share IS NOT NULL) AS pairs_from_excerpts
FROM pairs
GROUP BY ALL;

-- Per agent and judge, claims told apart. claims = untrusted + uncited + cited; cited = evaluated
-- + never_fetched + not_assessed + without_page; evaluated = supported + conflict + not_supported;
-- without_page is the sum of what stands after it, each by its pages' status (`several`: by more
-- than one). Both denominators: ref_acc is over `evaluated`; ref_acc_strict over `strict`, which
-- counts those as not supported whose pages were all tried in vain, and leaves out those that the
-- judge could not answer for a page that came. Pooled over the reports: the
-- leaderboard has the means of the reports' shares.
CREATE VIEW reference_counts AS
WITH judged AS (
    SELECT DISTINCT s.edition, s.agent, s.assignment, s.judge, x.pairs_reliable
    FROM scores AS s
    JOIN extractions AS x USING (edition, agent, assignment)
    WHERE s.protocol = 'wiki_fact' AND s.cell_id IS NOT NULL
), every AS (
    SELECT j.edition, j.agent, j.assignment, j.judge, j.pairs_reliable, c.outcome, c.pairs,
        c.decided_pairs, c.supported_pairs, c.pairs_from_excerpts,
        c.outcome IN ('support', 'conflict', 'not_support') AS evaluated,
        c.outcome NOT IN ('support', 'conflict', 'not_support', 'never_fetched', 'not_assessed')
            AS without_page
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
    count(*) FILTER (outcome = 'support') AS supported,
    count(*) FILTER (outcome = 'conflict') AS conflict,
    count(*) FILTER (outcome = 'not_support') AS not_supported,
    count(*) FILTER (outcome = 'never_fetched') AS never_fetched,
    count(*) FILTER (outcome = 'not_assessed') AS not_assessed,
    count(*) FILTER (without_page) AS without_page,
    count(*) FILTER (outcome = 'unfetchable') AS unfetchable,
    count(*) FILTER (outcome = 'bot_wall') AS bot_wall,
    count(*) FILTER (outcome = 'login_wall') AS login_wall,
    count(*) FILTER (outcome = 'cookie_wall') AS cookie_wall,
    count(*) FILTER (outcome = 'soft_404') AS soft_404,
    count(*) FILTER (outcome = 'empty') AS empty,
    count(*) FILTER (outcome = 'too_large') AS too_large,
    count(*) FILTER (outcome = 'refused') AS refused,
    count(*) FILTER (outcome = 'robots') AS robots,
    count(*) FILTER (outcome = 'unreadable') AS unreadable,
    count(*) FILTER (outcome = 'several') AS several,
    count(*) FILTER (evaluated OR without_page) AS strict,
    count(*) FILTER (outcome = 'support') / nullif(count(*) FILTER (evaluated), 0) AS ref_acc,
    count(*) FILTER (outcome = 'support')
        / nullif(count(*) FILTER (evaluated OR without_page), 0) AS ref_acc_strict,
    coalesce(sum(pairs), 0)::BIGINT AS pairs,
    coalesce(sum(decided_pairs), 0)::BIGINT AS decided_pairs,
    coalesce(sum(supported_pairs), 0)::BIGINT AS supported_pairs,
    coalesce(sum(pairs_from_excerpts), 0)::BIGINT AS pairs_from_excerpts
FROM every
GROUP BY ALL
ORDER BY edition, judge, agent;
