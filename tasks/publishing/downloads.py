"""What can be downloaded with the site: tables as Parquet, small ones as CSV and JSON too, a data
card, and the edition's manifest."""

from typing import Any

import orjson
import polars as pl

from tasks.publishing.material import Material
from tasks.site.content import Download, Site
from tasks.site.environment import page
from tasks.site.folder import SiteFolder

_JUDGED = "WHERE edition = $1 AND list_contains($2, judge) ORDER BY"
_OF = "WHERE edition = $1 ORDER BY"
TABLES: dict[str, tuple[str, str]] = {
    "leaderboard": ("every figure with its interval, rank range and what it rests on",
                    f"SELECT * FROM leaderboard {_JUDGED} protocol, metric, judge, agent"),
    "agent_pairs": ("how any two agents differ, by metric",
                    f"SELECT * FROM agent_pairs {_JUDGED} protocol, metric, judge, agent, other"),
    "scores": ("one metric of one report",
               f"SELECT * FROM scores {_JUDGED} protocol, metric, judge, agent, assignment"),
    "verdicts": ("every decision with label, reason, evidence, model version, prompt sha and call",
                 f"SELECT * FROM current_verdicts {_JUDGED} cell_id, step, item"),
    "assignments": ("what agents were asked", f"SELECT * FROM assignments {_OF} assignment"),
    "articles": ("the reference articles, without their text",
                 f"SELECT * EXCLUDE (text) FROM articles {_OF} article"),
    "facts": ("the articles' facts, under the articles' licence",
              f"SELECT * FROM facts {_OF} article, number"),
    "reports": ("what agents wrote",
                f"SELECT * EXCLUDE (source_path) FROM reports {_OF} agent, assignment"),
    "claims": ("the reports' claims", f"SELECT * FROM claims {_OF} agent, assignment, number"),
    "citations": ("which claim cites which page",
                  f"SELECT * FROM citations {_OF} agent, assignment, number, url"),
    "pages": ("cited pages without their text: status, when, sha-256",
              f"SELECT * EXCLUDE (text) FROM pages {_OF} url"),
}  # fmt: skip
"""Name → what it holds, and the query. Texts of other people's pages, prompts and raw answers stay
in the warehouse."""
IMPORTED = {
    "articles": f"SELECT article, title, url, text_sha FROM articles {_OF} article",
    "assignments": "SELECT assignment, article, kind, prompt_sha FROM assignments "
                   f"{_OF} assignment",
    "reports": f"SELECT agent, assignment, status, text_sha FROM reports {_OF} agent, assignment",
}  # fmt: skip
"""What the manifest of an imported edition holds."""
SMALL = ("leaderboard", "agent_pairs", "scores")
"""Given as CSV, and the first as JSON, as well."""


def data_files(material: Material, site: Site, folder: SiteFolder) -> None:
    files = [file for name in TABLES for file in _table(material, folder, name)]
    said = "the edition's manifest: what it consists of, by sha-256"
    files.append(_add(folder, "manifest.json", _manifest(material), said, None))
    card = page("card.md", site=site, material=material, files=files, tables=TABLES)
    files.append(_add(folder, "README.md", card.encode(), "the data card", None))
    folder.add(
        "data.html",
        page("data.html", site=site, here="data.html", files=files, card=card, tables=TABLES),
    )


def _table(material: Material, folder: SiteFolder, name: str) -> list[Download]:
    what, query = TABLES[name]
    parameters: list[Any] = [material.edition]
    if "$2" in query:
        parameters.append(list(material.judges))
    frame = material.source.frame(query, parameters)
    file = folder.path(f"data/{name}.parquet")
    file.parent.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(file, compression="zstd")
    folder.adopt(f"data/{name}.parquet")
    found = [_download(folder, f"{name}.parquet", what, frame.height)]
    if name in SMALL:
        csv = frame.write_csv().encode()
        found.append(_add(folder, f"{name}.csv", csv, f"{what}, as CSV", frame.height))
    if name == SMALL[0]:
        found.append(_add(folder, f"{name}.json", _json(frame), f"{what}, as JSON", frame.height))
    return found


def _json(frame: pl.DataFrame) -> bytes:
    return orjson.dumps(frame.to_dicts(), option=orjson.OPT_INDENT_2)


def _manifest(material: Material) -> bytes:
    """Of a collected edition the frozen one. Nobody froze an imported edition: its articles,
    prompts and reports by the sha-256 of their texts."""
    frame = material.source.frame(
        "SELECT manifest FROM collections WHERE edition = $1 AND manifest IS NOT NULL",
        [material.edition],
    )
    if frame.height:
        return str(frame.item()).encode()
    contents = {
        name: material.source.frame(query, [material.edition]).to_dicts()
        for name, query in IMPORTED.items()
    }
    about = {"edition": material.edition, "source": material.origin}
    return orjson.dumps(about | contents, option=orjson.OPT_INDENT_2)


def _add(folder: SiteFolder, name: str, data: bytes, what: str, rows: int | None) -> Download:
    folder.add(f"data/{name}", data)
    return _download(folder, name, what, rows)


def _download(folder: SiteFolder, name: str, what: str, rows: int | None) -> Download:
    n_bytes, sha = folder.files[f"data/{name}"]
    return Download(name, what, n_bytes, sha, rows)
