-- Every table of the pipeline, one per stage. Keys are kept by the writer (delete + insert,
-- MERGE), not by primary keys: DuckLake, the way to several hosts, has none. Timestamps are UTC.

CREATE TABLE warehouse_info (
    warehouse_id VARCHAR NOT NULL,
    schema_version INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE editions (
    edition VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    title VARCHAR,
    imported_at TIMESTAMP NOT NULL
);

CREATE TABLE agents (
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    description VARCHAR,
    declares_citations BOOLEAN
);

CREATE TABLE articles (
    edition VARCHAR NOT NULL,
    article VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    page_id BIGINT,
    text VARCHAR NOT NULL,
    text_sha VARCHAR NOT NULL,
    created_at TIMESTAMP,
    promoted_on DATE,
    bytes BIGINT,
    views BIGINT,
    external_links BIGINT,
    topic VARCHAR,
    category VARCHAR
);

CREATE TABLE assignments (
    edition VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    article VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    prompt VARCHAR,
    prompt_sha VARCHAR
);

CREATE TABLE reports (
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    text_sha VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    source_path VARCHAR NOT NULL
);

CREATE TABLE facts (
    edition VARCHAR NOT NULL,
    article VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    text VARCHAR NOT NULL,
    section VARCHAR,
    position INTEGER,
    source VARCHAR NOT NULL
);

CREATE TABLE claims (
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    text VARCHAR NOT NULL,
    section VARCHAR,
    position INTEGER,
    source VARCHAR NOT NULL
);

CREATE TABLE citations (
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    url VARCHAR NOT NULL,
    raw_url VARCHAR NOT NULL,
    marker VARCHAR,
    kind VARCHAR NOT NULL
);

CREATE TABLE extractions (
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    extractor_version VARCHAR NOT NULL,
    input_sha VARCHAR NOT NULL,
    output_sha VARCHAR NOT NULL,
    n_items INTEGER NOT NULL,
    n_pairs INTEGER NOT NULL,
    pairs_reliable BOOLEAN NOT NULL,
    pairs_reason VARCHAR
);

CREATE TABLE pages (
    edition VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    title VARCHAR,
    text VARCHAR,
    text_sha VARCHAR,
    error VARCHAR,
    fetched_by VARCHAR,
    fetched_at TIMESTAMP
);

CREATE TABLE calls (
    call_id VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    model_version VARCHAR,
    parameters VARCHAR NOT NULL,
    prompt VARCHAR NOT NULL,
    prompt_sha VARCHAR NOT NULL,
    answer VARCHAR,
    status VARCHAR NOT NULL,
    error VARCHAR,
    prompt_tokens BIGINT,
    cached_tokens BIGINT,
    output_tokens BIGINT,
    thinking_tokens BIGINT,
    cost_usd DOUBLE,
    latency_seconds DOUBLE,
    attempt INTEGER NOT NULL,
    called_at TIMESTAMP NOT NULL
);

CREATE TABLE cells (
    cell_id VARCHAR NOT NULL,
    edition VARCHAR NOT NULL,
    protocol VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    model_version VARCHAR NOT NULL,
    prompt_sha VARCHAR NOT NULL,
    protocol_version VARCHAR NOT NULL,
    input_sha VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    error VARCHAR,
    n_verdicts INTEGER NOT NULL,
    n_open INTEGER NOT NULL,
    finished_at TIMESTAMP NOT NULL
);

CREATE TABLE verdicts (
    cell_id VARCHAR NOT NULL,
    edition VARCHAR NOT NULL,
    protocol VARCHAR NOT NULL,
    step VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    item VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    model_version VARCHAR,
    prompt_sha VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    label VARCHAR,
    score DOUBLE,
    reason VARCHAR,
    evidence VARCHAR,
    status VARCHAR NOT NULL,
    call_id VARCHAR
);

CREATE TABLE scores (
    edition VARCHAR NOT NULL,
    protocol VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    value DOUBLE,
    numerator DOUBLE,
    n_items INTEGER NOT NULL,
    n_open INTEGER NOT NULL,
    state VARCHAR NOT NULL,
    reason VARCHAR,
    cell_id VARCHAR,
    scorer_version VARCHAR NOT NULL
);

CREATE TABLE leaderboard (
    edition VARCHAR NOT NULL,
    protocol VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    value DOUBLE,
    macro DOUBLE,
    micro DOUBLE,
    n_items BIGINT NOT NULL,
    n_reports INTEGER NOT NULL,
    n_open INTEGER NOT NULL,
    provisional BOOLEAN NOT NULL,
    reason VARCHAR
);

CREATE TABLE diagnostics (
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    value DOUBLE,
    unit VARCHAR NOT NULL,
    text_sha VARCHAR NOT NULL,
    version VARCHAR NOT NULL
);

CREATE TABLE import_issues (
    edition VARCHAR NOT NULL,
    scope VARCHAR NOT NULL,
    path VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    severity VARCHAR NOT NULL,
    message VARCHAR NOT NULL
);
