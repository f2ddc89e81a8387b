"""The method page's settings."""

from tasks.configuration.models import load_protocol
from tasks.publishing.method import list_settings


def test_settings_read_as_in_the_protocol_s_file() -> None:
    settings = dict(list_settings(load_protocol("wiki_writing")))
    assert (settings["allow_tie"], settings["order_policy"]) == ("false", "wiki_first")
