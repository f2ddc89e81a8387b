"""`python -m flows` is the `evergreen` command."""

from flows.cli import main

if __name__ == "__main__":
    main()
