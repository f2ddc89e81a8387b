"""Draw charts: Vega-Lite specifications rendered to SVG, so that pages need no script for them.

Charts have few words, since placing text is slow. Colours are CSS variables, so that charts follow
light and dark mode. Each chart has a description, and its numbers are in a table on the same page.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup, escape

from tasks.foreign_text import make_visible
from tasks.site.content import BoardEntry, FigureCell

_FONT = 'system-ui, "Noto Sans", "DejaVu Sans", sans-serif'
_CONFIG: dict[str, Any] = {
    "background": None,
    "font": "DejaVu Sans",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--ink)", "titleColor": "var(--soft)", "domainColor": "var(--line)",
        "tickColor": "var(--line)", "gridColor": "var(--line)", "labelFontSize": 12,
        "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 0,
    },
    "legend": {"labelColor": "var(--ink)", "titleColor": "var(--soft)", "labelFontSize": 12,
               "titleFontWeight": "normal", "labelLimit": 0},
    "header": {"labelColor": "var(--ink)", "titleColor": "var(--soft)"},
    "text": {"color": "var(--ink)"},
}  # fmt: skip
SERIES = tuple(f"var(--c{n})" for n in range(8))
"""Colours of agents, which repeat after eight; each is shown with the agent's name."""
HEAT = {"found": "var(--heat1)", "not found": "var(--heat0)", "contradicted": "var(--heatx)",
        "no verdict": "var(--heatn)"}  # fmt: skip
"""Outcomes of a fact in a report, with their colours."""
MAX_NAMED = 16
"""Maximum number of sections named above the band; the table below names all."""
POINT = {"type": "point", "filled": True, "size": 75, "color": SERIES[0], "opacity": 1}
RULE = {"type": "rule", "color": SERIES[0], "strokeWidth": 2}
"""Marks of a figure and of its interval."""
_PATH, _LONG = re.compile(r' d="[^"]*"'), re.compile(r"\d+\.\d{2,}")
"""Path data, and numbers in it with needless precision."""
_TAG, _ROLE = re.compile(r"<[^>]+>"), re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
"""Roles and labels of parts are removed: only the whole chart has a description."""
_ID = re.compile(r"\b(clip|gradient_)(\d+)\b")


def draw_svg(spec: Mapping[str, Any], description: str, name: str) -> Markup:
    """Draw a specification. `name` keeps the ids of several charts on a page apart."""
    import vl_convert  # only here: it takes a while to load

    whole = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "config": _CONFIG | {"aria": False},
        **spec,
    }
    drawn: str = vl_convert.vegalite_to_svg(whole)
    drawn = _TAG.sub(lambda tag: _simplify(tag[0], name), drawn)
    label = escape(make_visible(description))
    return Markup(drawn.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1))


def _simplify(tag: str, name: str) -> str:
    tag = _PATH.sub(lambda path: _LONG.sub(lambda n: f"{float(n[0]):.1f}", path[0]), tag)
    tag = _ID.sub(rf"\1{name}\2", _ROLE.sub("", tag))
    return tag.replace('font-family="DejaVu Sans"', f"font-family='{_FONT}'")


def draw_ranking(entries: Sequence[BoardEntry], title: str, unit: str) -> Markup | None:
    """Draw a board's first metric: each agent's value and interval, the best on top."""
    shown = [(entry, entry.cells[0]) for entry in entries if entry.cells[0].value is not None]
    if not shown:
        return None
    entries = [entry for entry, _ in shown]
    order = _make_distinct([f"{e.name} (not ranked)" if e.unranked else e.name for e in entries])
    values = [{"agent": n, **_scale(cell, unit)} for n, (_, cell) in enumerate(shown)]
    spec = {
        "width": 620,
        "height": {"step": 26},
        "data": {"values": values},
        "layer": _build_intervals(
            _name_rows("agent", order), f"{title}, percent" if unit == "share" else title
        ),
    }
    best = (
        f"; {order[0]} is first with {values[0]['value']:.1f}" if not shown[0][0].unranked else ""
    )
    return draw_svg(spec, f"{title} of {len(values)} agents with intervals{best}.", "r")


def draw_profile(
    mine: Sequence[tuple[str, FigureCell]], others: Mapping[str, Sequence[float]], name: str
) -> Markup | None:
    """Draw an agent's figures by metric, with those of the other agents in grey."""
    shown = [(m, cell) for m, cell in mine if cell.value is not None and cell.unit == "share"]
    if not shown:
        return None
    own = [{"metric": n, **_scale(cell, "share")} for n, (_, cell) in enumerate(shown)]
    ticks: list[dict[str, Any]] = [
        {"metric": n, "other": value * 100}
        for n, (metric, _) in enumerate(shown)
        for value in others[metric]
    ]
    axis = _name_rows("metric", [make_visible(metric) for metric, _ in shown])
    spec = {
        "width": 560,
        "height": {"step": 26},
        "layer": [
            {
                "data": {"values": ticks or [{"metric": 0, "other": None}]},
                "mark": {"type": "tick", "color": "var(--soft)", "opacity": 0.8, "thickness": 2},
                "encoding": {"y": axis, "x": {"field": "other", **_measure_from_zero("percent")}},
            },
            *({"data": {"values": own}, **layer} for layer in _build_intervals(axis, "percent")),
        ],
    }
    return draw_svg(spec, f"Figures of {name} by metric; ticks are the other agents'.", "p")


def draw_heatmap(
    found: Mapping[str, Sequence[str]], sections: Sequence[tuple[str, int]], title: str
) -> Markup:
    """Draw which agent's report contains which fact, in the article's order, as in Figure 4 of the
    Wiki Live Challenge paper.

    Args:
        found: agent → one of HEAT's keys for each fact.
        sections: the article's sections with their numbers of facts, in order; shown as bands.
    """
    agents = _make_distinct(list(found))
    n_facts = sum(n for _, n in sections)
    cells = [
        {"agent": n, "fact": start, "end": end, "is": word}
        for n, words in enumerate(found.values())
        for word, start, end in _merge_runs(words)
    ]
    bands = list(_build_bands(sections))
    width = max(480, min(1060, n_facts * 7))
    x = {"type": "quantitative", "scale": {"domain": [0, n_facts], "nice": False}}
    room = 18 * n_facts / width
    wide = [band for band, (_, n) in zip(bands, sections, strict=True) if n > room]
    named = wide[:MAX_NAMED]
    spec = {
        "spacing": 2,
        "vconcat": [
            {"width": width, "height": 96,
             "data": {"values": named},
             "mark": {"type": "text", "angle": 315, "align": "left", "baseline": "middle",
                      "fontSize": 11, "color": "var(--ink)"},
             "encoding": {"x": {"field": "middle", **x, "axis": None}, "y": {"value": 92},
                          "text": {"field": "section"}}},
            {"width": width, "height": 8,
             "data": {"values": bands},
             "mark": {"type": "rect"},
             "encoding": {"x": {"field": "start", **x, "axis": None}, "x2": {"field": "end"},
                          "color": {"field": "shade", "type": "nominal", "legend": None,
                                    "scale": {"domain": [0, 1],
                                              "range": ["var(--soft)", "var(--line)"]}}}},
            {"width": width, "height": {"step": 20},
             "data": {"values": cells},
             "mark": {"type": "rect"},
             "encoding": {"x": {"field": "fact", **x,
                                "axis": {"title": "fact of the article, from its first to its last",
                                         "grid": False, "tickCount": 5}},
                          "x2": {"field": "end"},
                          "y": _name_rows("agent", agents) | {"scale": {"paddingInner": 0.12}},
                          "color": {"field": "is", "type": "nominal",
                                    "scale": {"domain": list(HEAT), "range": list(HEAT.values())},
                                    "legend": None}}},
        ],
        "resolve": {"scale": {"color": "independent"}},
    }  # fmt: skip
    description = (
        f"{title}: {n_facts} facts in {len(sections)} sections by {len(agents)} agents; the table "
        "below has the same content."
    )
    return draw_svg(spec, description, "h")


def draw_scatter(
    points: Sequence[Mapping[str, Any]], x_title: str, y_title: str, description: str, name: str
) -> Markup:
    """Draw points of `x`, `y` and `series`, with a regression line through each series."""
    known = sorted({str(point["series"]) for point in points})
    number = {series: n for n, series in enumerate(known)}
    values = [{**point, "series": number[str(point["series"])]} for point in points]
    shades = [SERIES[n % len(SERIES)] for n in number.values()]
    colour = {"field": "series", "type": "nominal", "legend": _label(_make_distinct(known)),
              "scale": {"domain": [*number.values()], "range": shades}}  # fmt: skip
    x = {"field": "x", "type": "quantitative", "axis": _entitle(x_title)}
    y = {"field": "y", "type": "quantitative", "axis": _entitle(y_title)}
    spec = {
        "width": 640, "height": 320, "data": {"values": values},
        "layer": [
            {"mark": {"type": "point", "size": 22, "opacity": 0.35},
             "encoding": {"x": x, "y": y, "color": colour}},
            {"mark": {"type": "line", "strokeWidth": 2},
             "transform": [{"regression": "y", "on": "x", "groupby": ["series"]}],
             "encoding": {"x": x, "y": y, "color": colour}},
        ],
    }  # fmt: skip
    return draw_svg(spec, description, name)


def draw_bars(rows: Sequence[Mapping[str, Any]], title: str, description: str, name: str) -> Markup:
    """Draw named values, with intervals if they have any, in the given order."""
    values = [{**row, "name": n} for n, row in enumerate(rows)]
    axis = _name_rows("name", _make_distinct([row["name"] for row in rows]))
    x = {"type": "quantitative", "axis": _entitle(title)}
    spec = {
        "width": 560, "height": {"step": 24}, "data": {"values": values},
        "layer": [
            {"mark": {"type": "bar", "color": SERIES[0], "opacity": 0.75},
             "encoding": {"y": axis, "x": {"field": "value", **x}}},
            {"mark": {"type": "rule", "color": "var(--ink)"},
             "encoding": {"y": axis, "x": {"field": "low", **x}, "x2": {"field": "high"}}},
        ],
    }  # fmt: skip
    return draw_svg(spec, description, name)


def _build_bands(sections: Sequence[tuple[str, int]]) -> Iterator[dict[str, Any]]:
    start = 0
    for number, (name, n) in enumerate(sections):
        yield {"section": _shorten(name, 22), "start": start, "end": start + n,
               "middle": start + n / 2, "shade": number % 2}  # fmt: skip
        start += n


def _merge_runs(words: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Merge equal neighbours; yield (word, start, end)."""
    start = 0
    for word, same in groupby(words):
        end = start + len([*same])
        yield word, start, end
        start = end


def _name_rows(field: str, names: Sequence[str]) -> dict[str, Any]:
    """Name the rows of a field that has their numbers."""
    return {"field": field, "type": "nominal", "axis": _label(names)}


def _label(names: Sequence[str]) -> dict[str, Any]:
    """Let an axis or a legend show names for numbers.

    Vega looks values and constants up in objects that have some names, such as `constructor`,
    already: no text comes to it as it is.
    """
    return {"title": None, "labelExpr": f"slice({json.dumps(['=' + n for n in names])}"
                                        "[datum.value], 1)"}  # fmt: skip


def _entitle(title: str) -> dict[str, Any]:
    """Return the title of an axis, which comes to Vega as labels do."""
    return {"title": {"expr": f"slice({json.dumps('=' + make_visible(title))}, 1)"}}


def _measure_from_zero(title: str) -> dict[str, Any]:
    return {"type": "quantitative", "axis": _entitle(title), "scale": {"zero": True}}


def _build_intervals(rows: Mapping[str, Any], title: str) -> list[dict[str, Any]]:
    """Return a layer with each row's `low` to `high`, and one with its `value`."""
    x = _measure_from_zero(title)
    ends = {"y": rows, "x": {"field": "low", **x}, "x2": {"field": "high"}}
    return [
        {"mark": RULE, "encoding": ends},
        {"mark": POINT, "encoding": {"y": rows, "x": {"field": "value", **x}}},
    ]


def _scale(cell: FigureCell, unit: str) -> dict[str, float | None]:
    times = 100 if unit == "share" else 1
    low, high = (cell.value if end is None else end for end in (cell.low, cell.high))
    return {
        name: None if end is None else end * times
        for name, end in (("value", cell.value), ("low", low), ("high", high))
    }


def _make_distinct(names: Sequence[str]) -> list[str]:
    """Shorten names and number duplicates, so that a reader can tell them apart."""
    found: list[str] = []
    for name in names:
        shown, more = _shorten(name), 2
        while shown in found:
            shown, more = f"{_shorten(name, 32)} {more}", more + 1
        found.append(shown)
    return found


def _shorten(name: str, longest: int = 36) -> str:
    shown = " ".join(make_visible(name).split())
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
