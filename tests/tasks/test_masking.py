"""Secrets are taken out of texts in one way."""

from tasks.masking import SecretMask, hide_in_command


def test_of_two_secrets_the_longer_one_is_hidden_whole() -> None:
    mask = SecretMask(["abc-key", "abc-key-2", ""])
    assert mask.hide("abc-key-2, abc-key.") == "[hidden], [hidden]."
    assert mask.hide_in_bytes(b"\xff abc-key-2") == b"\xff [hidden]"
    assert mask.find("abc-key-2 or abc-key") == ["abc-key-2", "abc-key"]
    assert mask.find_in_bytes(b"\xff abc-key") == "abc-key"


def test_without_secrets_nothing_is_hidden() -> None:
    mask = SecretMask([])
    assert (mask.hide("all of it"), mask.hide_in_bytes(b"it")) == ("all of it", b"it")
    assert (mask.find("it"), mask.find_in_bytes(b"it"), mask.n_bytes) == ([], None, 0)


def test_a_key_that_was_typed_is_hidden_by_its_form() -> None:
    typed = f"evergreen collect --header Bearer abcdef --note sk-{'a1' * 12} --edition e"
    hidden = "evergreen collect --header [hidden] --note [hidden] --edition e"
    assert hide_in_command(typed) == hidden
