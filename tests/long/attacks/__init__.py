"""Attacks that need a Prefect server, or more than a few seconds."""
