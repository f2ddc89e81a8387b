-- The tables of schema version 19, as they are made from the models of their rows: change this file
-- and SCHEMA_VERSION with a column.

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
    prompt_sha VARCHAR,
    -- Research queries: rubrics and key points, for assignments without a reference article.
    query VARCHAR
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
    source VARCHAR NOT NULL,
    unwritten_urls VARCHAR
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
    pairs_reason VARCHAR,
    n_offline INTEGER
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
    fetched_at TIMESTAMP,
    source VARCHAR,
    final_url VARCHAR,
    language VARCHAR,
    published_on DATE,
    media_type VARCHAR,
    signals VARCHAR,
    reader VARCHAR
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
    call_id VARCHAR,
    -- The number of items that one call decided: 1 unless the protocol or an option batches items.
    asked_together INTEGER,
    shown_share DOUBLE,
    decided_by VARCHAR,
    refused_call VARCHAR
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
    n_blocked INTEGER,
    bound_low DOUBLE,
    bound_high DOUBLE,
    bound_items INTEGER,
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
    reason VARCHAR,
    -- Confidence intervals and ranks on the leaderboard, and comparisons between any two agents.
    low DOUBLE,
    high DOUBLE,
    interval_reason VARCHAR,
    n_articles INTEGER,
    rank_from INTEGER,
    rank_to INTEGER,
    seed INTEGER,
    resamples INTEGER,
    scores_sha VARCHAR,
    -- The figure without missing reports and with 0 for them, the reports, and who is not ranked.
    value_present DOUBLE,
    value_zero DOUBLE,
    n_delivered INTEGER,
    n_missing INTEGER,
    n_assignments INTEGER,
    unranked VARCHAR,
    n_blocked INTEGER,
    blocked_share DOUBLE,
    bound_low DOUBLE,
    bound_high DOUBLE
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
    cache_write_tokens BIGINT,
    cache_write_hour_tokens BIGINT,
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

-- Editions collected from a wiki: the candidates, the choice and its reasons, and the frozen
-- articles with their sources.

CREATE TABLE collections (
    edition VARCHAR NOT NULL,
    api_url VARCHAR NOT NULL,
    category VARCHAR NOT NULL,
    created_since TIMESTAMP NOT NULL,
    created_until TIMESTAMP NOT NULL,
    n_articles INTEGER NOT NULL,
    spread BOOLEAN NOT NULL,
    rules VARCHAR NOT NULL,
    formula_version VARCHAR NOT NULL,
    begun_at TIMESTAMP NOT NULL,
    trial BOOLEAN,
    last_until TIMESTAMP,
    n_members INTEGER,
    frozen_at TIMESTAMP,
    manifest VARCHAR,
    manifest_sha VARCHAR
);

CREATE TABLE excluded_articles (
    edition VARCHAR NOT NULL,
    origin VARCHAR NOT NULL,
    origin_sha VARCHAR,
    title VARCHAR NOT NULL,
    page_id BIGINT
);

CREATE TABLE candidates (
    edition VARCHAR NOT NULL,
    page_id BIGINT NOT NULL,
    title VARCHAR NOT NULL,
    listed_at TIMESTAMP NOT NULL,
    first_revision_id BIGINT,
    created_at TIMESTAMP,
    url VARCHAR,
    revision_id BIGINT,
    revision_at TIMESTAMP,
    bytes BIGINT,
    words INTEGER,
    reference_urls INTEGER,
    headings INTEGER,
    links INTEGER,
    maintenance_tags VARCHAR,
    topic VARCHAR,
    category VARCHAR,
    promoted_on DATE,
    decision VARCHAR
);

CREATE TABLE article_revisions (
    edition VARCHAR NOT NULL,
    article VARCHAR NOT NULL,
    page_id BIGINT NOT NULL,
    revision_id BIGINT NOT NULL,
    revision_at TIMESTAMP NOT NULL,
    permalink VARCHAR NOT NULL,
    html VARCHAR NOT NULL,
    html_sha VARCHAR NOT NULL,
    text_sha VARCHAR NOT NULL,
    converter_version VARCHAR NOT NULL,
    licence VARCHAR NOT NULL,
    licence_url VARCHAR NOT NULL,
    attribution VARCHAR NOT NULL,
    retrieved_at TIMESTAMP NOT NULL
);

CREATE TABLE article_links (
    edition VARCHAR NOT NULL,
    article VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    url VARCHAR NOT NULL,
    raw_url VARCHAR NOT NULL,
    archive_url VARCHAR
);

-- Questions: ground truths, search traces, and scores per category.

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

-- Questions made from articles: accepted, rejected and open ones.

CREATE TABLE questions (
    edition VARCHAR NOT NULL,
    article VARCHAR NOT NULL,
    inversion_id VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    n_targets INTEGER,
    state VARCHAR NOT NULL,
    reason VARCHAR,
    detail VARCHAR,
    assignment VARCHAR,
    question VARCHAR,
    kind VARCHAR,
    category VARCHAR,
    target VARCHAR,
    truths VARCHAR,
    sources_rule VARCHAR,
    dropped VARCHAR NOT NULL,
    n_properties INTEGER,
    n_properties_kept INTEGER,
    pose_rounds INTEGER NOT NULL,
    refinement_rounds INTEGER NOT NULL,
    others VARCHAR NOT NULL,
    n_added INTEGER NOT NULL,
    n_words INTEGER,
    ngram_share DOUBLE,
    longest_run INTEGER,
    closed_book VARCHAR,
    closed_book_f1 DOUBLE,
    single_page VARCHAR,
    n_pages INTEGER,
    page_probes VARCHAR NOT NULL,
    n_queries INTEGER,
    n_units INTEGER,
    minutes DOUBLE,
    effort VARCHAR,
    judge VARCHAR NOT NULL,
    model_version VARCHAR NOT NULL,
    prompt_sha VARCHAR NOT NULL,
    settings_sha VARCHAR NOT NULL,
    text_sha VARCHAR NOT NULL,
    call_ids VARCHAR NOT NULL,
    seed INTEGER NOT NULL,
    made_at TIMESTAMP NOT NULL
);

-- Reports requested from agents, and reports imported from files.

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
    cache_write_tokens BIGINT,
    cache_write_hour_tokens BIGINT,
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

-- The archive: what was fetched, how, and the text that was read from it.

CREATE TABLE seed_pages (
    edition VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    raw_url VARCHAR NOT NULL
);

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

CREATE TABLE absent_pages (
    edition VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    evidence VARCHAR NOT NULL,
    checked_at TIMESTAMP NOT NULL,
    due_at TIMESTAMP
);

CREATE TABLE rubric_bundles (
    edition VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    protocol VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    settings VARCHAR NOT NULL,
    n_items INTEGER NOT NULL,
    bundle_sha VARCHAR NOT NULL
);

CREATE TABLE rubrics (
    edition VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    protocol VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    item VARCHAR NOT NULL,
    dimension VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    allowed VARCHAR NOT NULL,
    points DOUBLE NOT NULL,
    weight DOUBLE NOT NULL,
    explanation VARCHAR
);

CREATE TABLE point_sets (
    edition VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    extractor_version VARCHAR NOT NULL,
    input_sha VARCHAR NOT NULL,
    output_sha VARCHAR NOT NULL,
    n_points INTEGER NOT NULL,
    n_found INTEGER NOT NULL,
    n_spans INTEGER NOT NULL,
    n_verbatim INTEGER NOT NULL
);

CREATE TABLE clicked_documents (
    edition VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    raw_url VARCHAR NOT NULL,
    clicks INTEGER
);

CREATE TABLE key_points (
    edition VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    text VARCHAR NOT NULL,
    merged_from VARCHAR NOT NULL,
    spans VARCHAR NOT NULL
);

CREATE TABLE agent_pairs (
    edition VARCHAR NOT NULL,
    protocol VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    agent VARCHAR NOT NULL,
    other VARCHAR NOT NULL,
    n_articles INTEGER NOT NULL,
    difference DOUBLE,
    low DOUBLE,
    high DOUBLE,
    effect_size DOUBLE,
    better_share DOUBLE,
    p DOUBLE,
    p_adjusted DOUBLE,
    n_pairs INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    reason VARCHAR
);

CREATE TABLE publications (
    edition VARCHAR NOT NULL,
    published_at TIMESTAMP NOT NULL,
    folder VARCHAR NOT NULL,
    judges VARCHAR NOT NULL,
    is_written BOOLEAN NOT NULL
);

CREATE TABLE refreshes (
    edition VARCHAR NOT NULL,
    began_at TIMESTAMP NOT NULL,
    options VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL
);

CREATE TABLE fetched_editions (
    edition VARCHAR NOT NULL,
    ended_at TIMESTAMP NOT NULL,
    reports_sha VARCHAR NOT NULL
);

CREATE TABLE backups (
    began_at TIMESTAMP NOT NULL,
    place VARCHAR NOT NULL
);

CREATE TABLE audit (
    audit_id VARCHAR NOT NULL,
    began_at TIMESTAMP NOT NULL,
    version VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    os_user VARCHAR NOT NULL,
    host VARCHAR NOT NULL,
    deployment VARCHAR,
    flow_run VARCHAR,
    edition VARCHAR,
    parameters VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    error VARCHAR,
    ended_at TIMESTAMP,
    seconds DOUBLE
);
