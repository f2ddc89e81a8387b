"""The rig's tables: figures by family and format, now or before and after."""

from collections.abc import Mapping

from tests.rigs.wild.measures import Figures

SHARES = {
    "led %": ("led", "addressed"),
    "reliable %": ("reliable", "citing"),
    "list entries %": ("listed", "explicit"),
    "unpaired %": ("unpaired", "addresses"),
    "malformed %": ("malformed", "cited"),
    "long %": ("long", "claims"),
    "residue %": ("residue", "claims"),
    "false %": ("false", "numbered"),
}
COUNTS = ("files", "markers", "addressed", "claims", "pairs")


def share(figures: Figures, name: str) -> float | None:
    """A share in per cent; None where there was nothing to share."""
    part, whole = (getattr(figures, field) for field in SHARES[name])
    return 100 * part / whole if whole else None


def lines(rows: Mapping[str, Figures], before: Mapping[str, Figures] | None) -> list[str]:
    """A table with a line for each family and format, and one for all."""
    total, old = Figures(), Figures()
    for name, figures in rows.items():
        total += figures
        if before and name in before:
            old += before[name]
    names = [*COUNTS, *SHARES]
    table = [["family", *names]]
    table += [[name, *_cells(f, (before or {}).get(name))] for name, f in rows.items()]
    table.append(["all", *_cells(total, old if before else None)])
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    return [
        "  ".join(
            c.rjust(w) if at else c.ljust(w)
            for at, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]


def _cells(figures: Figures, before: Figures | None) -> list[str]:
    cells = []
    for name in (*COUNTS, *SHARES):
        now, then = _cell(figures, name), _cell(before, name) if before else ""
        cells.append(f"{then}→{now}" if before and then != now else now)
    return cells


def _cell(figures: Figures, name: str) -> str:
    if name in COUNTS:
        return f"{getattr(figures, name):,}"
    found = share(figures, name)
    return "-" if found is None else f"{found:.1f}" if found >= 1 or not found else f"{found:.2f}"
