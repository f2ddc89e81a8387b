-- What LLM judges need: the ledger of calls, batch jobs, and what people labelled.

-- Nothing wrote calls before this version.
DROP TABLE calls;

CREATE TABLE calls (
    call_id VARCHAR NOT NULL,
    request_id VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    provider VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    parameters VARCHAR NOT NULL,
    reply_schema VARCHAR NOT NULL,
    system_prompt VARCHAR NOT NULL,
    prompt VARCHAR NOT NULL,
    prompt_sha VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    protocol VARCHAR NOT NULL,
    step VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    answer VARCHAR,
    raw VARCHAR,
    error VARCHAR,
    finish VARCHAR,
    model_version VARCHAR,
    response_id VARCHAR,
    delivery VARCHAR NOT NULL,
    prompt_tokens BIGINT,
    cached_tokens BIGINT,
    output_tokens BIGINT,
    thinking_tokens BIGINT,
    cost_usd DOUBLE,
    latency_seconds DOUBLE,
    tries INTEGER NOT NULL,
    called_at TIMESTAMP NOT NULL
);

CREATE TABLE batch_jobs (
    job VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    remote_id VARCHAR,
    state VARCHAR NOT NULL,
    requests VARCHAR NOT NULL,
    n_requests INTEGER NOT NULL,
    error VARCHAR,
    created_at TIMESTAMP NOT NULL,
    finished_at TIMESTAMP
);

CREATE TABLE annotation_items (
    sheet VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    edition VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    protocol VARCHAR NOT NULL,
    step VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    item VARCHAR NOT NULL,
    left_side VARCHAR NOT NULL,
    right_side VARCHAR NOT NULL,
    asked VARCHAR NOT NULL,
    content_sha VARCHAR NOT NULL,
    seed INTEGER NOT NULL,
    made_at TIMESTAMP NOT NULL
);

CREATE TABLE human_labels (
    sheet VARCHAR NOT NULL,
    item_id VARCHAR NOT NULL,
    annotator VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    reason VARCHAR,
    imported_at TIMESTAMP NOT NULL
);

-- How many items one call decided: 1 unless the protocol or an option asks several at once.
ALTER TABLE verdicts ADD COLUMN asked_together INTEGER;

CREATE OR REPLACE VIEW current_verdicts AS
SELECT v.*
FROM verdicts AS v
WHERE v.cell_id IN (SELECT DISTINCT cell_id FROM scores WHERE cell_id IS NOT NULL);

-- What judging cost, an agent and judge a line; every paid attempt counts, also those whose
-- answer could not be used. A call that decided several items counts once.
CREATE VIEW judging_costs AS
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
    sum(c.cost_usd) AS cost_usd,
    count(*) FILTER (c.cost_usd IS NULL AND c.status <> 'failed') AS calls_without_price,
    sum(c.cost_usd) / count(DISTINCT a.assignment) AS usd_per_report
FROM asked AS a JOIN calls AS c ON c.request_id = a.request_id
GROUP BY ALL
ORDER BY a.edition, a.judge, a.protocol, a.agent;
