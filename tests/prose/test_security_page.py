"""SECURITY.md lists every promise with its test, and no page holds a key."""

from tasks.secrecy.guard import KeyGuard
from tests.attacks.keys import ROOT
from tests.attacks.table import PAGE, insert_table


def test_the_table_of_promises_is_made_from_the_attacks() -> None:
    page = PAGE.read_text("utf-8")
    assert page == insert_table(page), "run `python -m tests.attacks.table`"


def test_no_key_lies_in_the_documentation() -> None:
    guard = KeyGuard({})
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        guard.check(page.read_text("utf-8"), str(page))
