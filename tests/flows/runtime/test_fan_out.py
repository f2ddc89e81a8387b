"""What is said of what could not be done."""

from flows.runtime.fan_out import Failure, format_failures


def test_an_error_is_told_once_with_the_items_that_it_is_about() -> None:
    wrong_key = "The key was refused."
    failures = [
        Failure("verdicts", "Ants", wrong_key),
        Failure("verdicts", "Bees", "No answer."),
        *(Failure("verdicts", name, wrong_key) for name in ("Cows", "Dogs", "Eels")),
    ]
    assert format_failures(failures) == (
        f"\n  Ants; Cows; Dogs and 1 more: {wrong_key}\n  Bees: No answer."
    )


def test_of_many_errors_the_first_are_told_and_the_others_counted() -> None:
    failures = [Failure("verdicts", str(n), f"Error {n}.") for n in range(8)]
    lines = format_failures(failures).splitlines()
    assert (len(lines), lines[1], lines[-1]) == (7, "  0: Error 0.", "  (and 3 more)")
    assert format_failures([]) == ""
