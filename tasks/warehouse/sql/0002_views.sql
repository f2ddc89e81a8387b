-- What people ask for most, ready to SELECT. The exported snapshot carries the same views.

-- Every verdict that a figure on the leaderboard rests on: those of the cells the scores name.
CREATE VIEW current_verdicts AS
SELECT v.*
FROM verdicts AS v
WHERE v.cell_id IN (SELECT DISTINCT cell_id FROM scores WHERE cell_id IS NOT NULL);

-- One line per agent and judge, the metrics side by side (shares 0-1).
CREATE VIEW leaderboard_wide AS
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
GROUP BY edition, agent, judge
ORDER BY edition, judge, coverage_wiki_soft DESC NULLS LAST, agent;

-- Each fact of the reference beside what the judge found for it in each report.
CREATE VIEW fact_verdicts AS
SELECT
    v.edition, v.agent, v.assignment, v.judge,
    f.number AS fact_number, f.section, f.text AS fact,
    v.label, v.score, v.status, v.evidence, v.reason
FROM current_verdicts AS v
JOIN assignments AS a ON a.edition = v.edition AND a.assignment = v.assignment
JOIN facts AS f
    ON f.edition = v.edition AND f.article = a.article AND v.item = 'fact:' || f.number
WHERE v.step = 'coverage';

-- Each (claim, URL) pair beside whether the page supports it.
CREATE VIEW citation_verdicts AS
SELECT
    v.edition, v.agent, v.assignment, v.judge,
    c.number AS claim_number, c.text AS claim, z.url, z.kind,
    v.label, v.score, v.status, v.evidence, v.reason
FROM current_verdicts AS v
JOIN citations AS z
    ON z.edition = v.edition AND z.agent = v.agent AND z.assignment = v.assignment
    AND v.item = 'claim:' || z.number || ' ' || z.url
JOIN claims AS c
    ON c.edition = z.edition AND c.agent = z.agent AND c.assignment = z.assignment
    AND c.number = z.number
WHERE v.step = 'citation';
