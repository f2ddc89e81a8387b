"""Attacks that take longer than a second or two, or need a Postgres."""
