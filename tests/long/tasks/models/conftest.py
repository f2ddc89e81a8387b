"""Clients are made quickly here too."""

from tests.servers.conftest import one_certificate_authority

__all__ = ["one_certificate_authority"]
