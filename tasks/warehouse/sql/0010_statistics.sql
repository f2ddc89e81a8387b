-- How sure the figures of the leaderboard are, and how any two agents differ.

ALTER TABLE leaderboard ADD COLUMN low DOUBLE;
ALTER TABLE leaderboard ADD COLUMN high DOUBLE;
ALTER TABLE leaderboard ADD COLUMN interval_reason VARCHAR;
ALTER TABLE leaderboard ADD COLUMN n_articles INTEGER;
ALTER TABLE leaderboard ADD COLUMN rank_from INTEGER;
ALTER TABLE leaderboard ADD COLUMN rank_to INTEGER;
ALTER TABLE leaderboard ADD COLUMN seed INTEGER;
ALTER TABLE leaderboard ADD COLUMN resamples INTEGER;
ALTER TABLE leaderboard ADD COLUMN scores_sha VARCHAR;

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
