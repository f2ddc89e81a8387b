"""The store: DuckDB files or lakes, rows, locks, snapshots. Only this package imports duckdb.

Ground. Writes whatever it is given, in transactions.
"""
