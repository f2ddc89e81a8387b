"""Ask whether a model that nobody has named may extract facts and claims without a budget."""

import sys

import typer

from tasks.planning.permission import check_permitted


def ask_permission(said: str | None, judge: str, extractor: str | None) -> str | None:
    """Return the extractor to name: the one that was named, or the judge if a person at the
    terminal permits it.

    said: what has to be permitted, of `tasks.planning.permission`; None: nothing.

    Raises:
        Misconfigured: nobody can be asked.
        Abort: the person declined.
    """
    if said is None:
        return extractor
    if not sys.stdin.isatty():
        check_permitted(said)
    typer.confirm(f"{said}. There is no budget. Continue?", abort=True, err=True)
    return judge
