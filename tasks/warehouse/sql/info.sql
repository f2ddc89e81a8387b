-- All other tables are made from the models of their rows (tasks/warehouse/columns.py). The writer
-- keeps keys unique (delete and insert, or MERGE), because DuckLake has no primary keys. Timestamps
-- are UTC.

CREATE TABLE warehouse_info (
    warehouse_id VARCHAR NOT NULL,
    schema_version INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL,
    writes BIGINT
);
COMMENT ON TABLE warehouse_info IS 'The warehouse itself: one row.';
COMMENT ON COLUMN warehouse_info.warehouse_id IS 'A uuid made when the warehouse was created.';
COMMENT ON COLUMN warehouse_info.schema_version IS
    'Changes with the tables and views; another Evergreen''s is refused.';
COMMENT ON COLUMN warehouse_info.writes IS
    'Writes that were committed to the file; `FILE.writes.json` beside it tells if some are missing.';
