"""Attacks whose tests take longer, or need a Debian package."""
