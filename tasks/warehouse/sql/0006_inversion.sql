-- Questions made out of articles, whatever became of them.

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

-- How many questions of an edition were accepted, rejected (and why) or are open.
CREATE VIEW question_counts AS
SELECT edition, judge, state, reason, count(*) AS n,
    avg(closed_book_f1) AS closed_book_f1, count(closed_book_f1) AS n_closed_book
FROM questions
GROUP BY ALL
ORDER BY ALL;
