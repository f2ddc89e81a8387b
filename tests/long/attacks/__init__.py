"""Attacks that need a Prefect server, a Debian package, or more than a few seconds."""
