"""The sample edition in tests: the whole of it, and the part that tests' figures rest on.

Most tests want a small edition whose figures stay: three articles and three agents of what
`evergreen demo` runs on, in the same layout. What is about the demo or the data asks for `WHOLE`.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

WHOLE = Path(__file__).resolve().parents[1] / "data" / "sample"
ARTICLES = ("Eddystone_Lighthouse", "Mercury_(planet)", "Seven_Bridges_of_Königsberg")
AGENTS = ("sample_blogger", "sample_scholar", "sample_sketch")
REGISTRY = "test_data/agencies.json"


def copy_part(to: Path, articles: Sequence[str] = ARTICLES, agents: Sequence[str] = AGENTS) -> Path:
    """Copy all that the edition has of these articles by these agents; return `to`."""
    names = [f"wiki_data/cleaned_data/article/{article}.md" for article in articles]
    names += [f"wiki_data/cleaned_data/statement/{a}_statements.json" for a in articles]
    for agent in agents:
        names += [f"test_data/{agent}/md_data/{article}.md" for article in articles]
        names += [f"test_data/{agent}/json_data/{article}.json" for article in articles]
    for name in (name for name in names if (WHOLE / name).exists()):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(WHOLE / name, to / name)
    (listed,) = (WHOLE / "wiki_data").glob("ga_*.csv")
    head, *rows = listed.read_text("utf-8").splitlines(keepends=True)
    kept = [row for row in rows if row.partition(",")[0] in articles]
    (to / f"wiki_data/ga_{len(kept)}.csv").write_text(head + "".join(kept), "utf-8")
    registry = json.loads((WHOLE / REGISTRY).read_text("utf-8"))
    registry["agencies"] = {agent: registry["agencies"][agent] for agent in agents}
    (to / REGISTRY).write_text(json.dumps(registry, indent=1), "utf-8")
    return to


_FOLDER = TemporaryDirectory(prefix="evergreen-sample-")  # its own end removes it
PART = copy_part(Path(_FOLDER.name) / "sample")
SMALL = copy_part(Path(_FOLDER.name) / "small", ARTICLES[:1], AGENTS[:2])
"""For what no figure is the subject of: one article, two reports."""
