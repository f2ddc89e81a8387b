-- Questions: what is true, how agents searched, and the figures per category.

CREATE TABLE ground_truths (
    edition VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    category VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    truths VARCHAR NOT NULL,
    settings VARCHAR NOT NULL,
    n_claims INTEGER NOT NULL,
    truth_sha VARCHAR NOT NULL
);

CREATE TABLE search_traces (
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    trace VARCHAR NOT NULL,
    trace_sha VARCHAR NOT NULL,
    source VARCHAR NOT NULL
);

-- The published table: a mean per category, over the questions that have a value.
CREATE VIEW category_scores AS
SELECT
    s.edition, s.protocol, s.judge, s.agent, g.category, s.metric,
    avg(s.value) AS value, count(s.value) AS n_questions, sum(s.n_open) AS n_open
FROM scores AS s JOIN ground_truths AS g USING (edition, assignment)
GROUP BY ALL
ORDER BY ALL;
