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
