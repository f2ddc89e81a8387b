"""What is said of a report whose claims or citations figures cannot use."""

from typing import Any

from tasks.extraction.understanding import describe_in_helper, describe_understood
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import HelperProcesses

LISTED = (
    "# Mills\n\nThe mill has two wheels.[1] It stopped in 1911.[2] Nobody lives there.[3]\n\n"
    "## References\n\n1. The wheels. https://a.org/wheels\n2. The end. https://a.org/end\n"
)


def test_words_claims_markers_and_entries_are_counted() -> None:
    assert describe_understood(LISTED) == (
        "24 words, 3 claims (cited by their own markers 2, by others of their paragraph 0, "
        "by later ones 0), 3 citation markers (2 lead to a URL), 2 list entries with a URL"
    )
    assert describe_understood("").startswith("0 words, 0 claims, 0 citation markers (0 lead")
    assert describe_understood("水車は二つある。").startswith("3 words")


def test_the_reason_is_said() -> None:
    said = describe_understood(LISTED.partition("## Ref")[0])
    assert said.endswith("; not reliable: 3 citation markers, but no reference list with URLs")


def test_a_text_that_takes_too_long_says_so() -> None:
    class Slow(HelperProcesses):
        def submit(self, *_: object, **__: object) -> Any:
            raise LimitExceeded("took more than 60 seconds")

    assert describe_in_helper(Slow(), LISTED) == "reading it took more than 60 seconds"
