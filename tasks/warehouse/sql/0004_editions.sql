-- Editions collected from a wiki: what was looked at, what was chosen and why, and the frozen
-- articles with all they were made from.

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
    n_members INTEGER,
    frozen_at TIMESTAMP,
    manifest VARCHAR,
    manifest_sha VARCHAR
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

-- The choice, formula 1: the rank by reference URLs plus the rank by headings, small is good;
-- equal sums by bytes, then page id. With `spread`, every category's best come before any
-- category's second best. The first `n_articles` places are the edition.
CREATE VIEW candidate_ranking AS
WITH ranked AS (
    SELECT c.*, n.n_articles, n.spread,
        rank() OVER (PARTITION BY c.edition ORDER BY c.reference_urls DESC) AS reference_rank,
        rank() OVER (PARTITION BY c.edition ORDER BY c.headings DESC) AS heading_rank
    FROM candidates AS c JOIN collections AS n USING (edition)
    WHERE c.revision_id IS NOT NULL
        AND (c.decision IS NULL OR c.decision IN ('chosen', 'outranked'))
),
scored AS (
    SELECT *, reference_rank + heading_rank AS score,
        row_number() OVER (
            PARTITION BY edition, category
            ORDER BY reference_rank + heading_rank, bytes DESC, page_id
        ) AS turn
    FROM ranked
)
SELECT *,
    row_number() OVER (
        PARTITION BY edition
        ORDER BY CASE WHEN spread THEN turn ELSE 0 END, score, bytes DESC, page_id
    ) AS place
FROM scored
ORDER BY edition, place;
