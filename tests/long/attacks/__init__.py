"""Attacks that take longer than the quick ones in tests/attacks."""
