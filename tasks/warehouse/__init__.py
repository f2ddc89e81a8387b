"""The warehouse: DuckDB files and DuckLakes, rows, locks, snapshots.

Ground. Only this package imports duckdb. Writes the rows that it is given, in transactions.
"""
