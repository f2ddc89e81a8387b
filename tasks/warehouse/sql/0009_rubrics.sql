-- Research queries: what a report is measured by where there is no reference article.

ALTER TABLE assignments ADD COLUMN query VARCHAR;

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

CREATE TABLE key_points (
    edition VARCHAR NOT NULL,
    assignment VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    text VARCHAR NOT NULL,
    merged_from VARCHAR NOT NULL,
    spans VARCHAR NOT NULL
);
