-- Reports that are asked of agents, and those that come as files.

CREATE TABLE jobs (
    job VARCHAR NOT NULL,
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    model VARCHAR,
    parameters VARCHAR NOT NULL,
    prompt VARCHAR NOT NULL,
    prompt_sha VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    remote_id VARCHAR,
    remote_word VARCHAR,
    polls INTEGER NOT NULL,
    answer VARCHAR,
    error VARCHAR,
    model_version VARCHAR,
    input_tokens BIGINT,
    cached_tokens BIGINT,
    output_tokens BIGINT,
    reasoning_tokens BIGINT,
    citation_tokens BIGINT,
    searches INTEGER,
    reasoning_steps INTEGER,
    cost_usd DOUBLE,
    cost_source VARCHAR,
    created_at TIMESTAMP NOT NULL,
    polled_at TIMESTAMP,
    finished_at TIMESTAMP
);

CREATE TABLE report_files (
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    media_type VARCHAR NOT NULL,
    sha VARCHAR NOT NULL,
    n_bytes BIGINT NOT NULL,
    n_pages INTEGER,
    n_unreadable_pages INTEGER,
    reader VARCHAR NOT NULL
);

CREATE TABLE collection_costs (
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    usd DOUBLE,
    minutes DOUBLE,
    note VARCHAR,
    entered_at TIMESTAMP NOT NULL
);

-- What the reports of an agent cost, an agent and edition a line: all that was paid, also for
-- jobs that brought no report, and what people spent.
CREATE VIEW report_costs AS
WITH asked AS (
    SELECT edition, agent,
        count(DISTINCT assignment) FILTER (state = 'done') AS asked_reports,
        count(*) AS jobs,
        sum(cost_usd) AS usd,
        count(*) FILTER (cost_usd IS NULL AND state IN ('done', 'failed', 'lost', 'abandoned'))
            AS jobs_without_cost,
        CAST(sum(searches) AS BIGINT) AS searches,
        CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
        CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
        CAST(sum(reasoning_tokens) AS BIGINT) AS reasoning_tokens
    FROM jobs GROUP BY ALL
),
entered AS (
    SELECT edition, agent, count(*) AS people_reports, sum(usd) AS people_usd, sum(minutes) AS people_minutes
    FROM collection_costs GROUP BY ALL
)
SELECT * FROM asked FULL JOIN entered USING (edition, agent) ORDER BY edition, agent;
