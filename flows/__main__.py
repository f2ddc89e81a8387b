"""The `evergreen` command, also as `python -m flows`.

What it needs is imported inside: helper processes import this module again when they start.
"""


def main() -> None:
    from flows.cli import main as run

    run()


if __name__ == "__main__":
    main()
