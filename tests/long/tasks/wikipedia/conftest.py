"""The real MediaWiki that the quick tests have."""

from tests.tasks.wikipedia.conftest import mediawiki

__all__ = ["mediawiki"]
