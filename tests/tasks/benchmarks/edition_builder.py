"""Builds tiny published editions in a temporary folder, odd in whatever way a test needs."""

import json
from pathlib import Path
from typing import Any

ARTICLE = "Parasitic_ant"
TEXT = (
    "# Parasitic ant\n\nParasitic ants live in colonies of other ants.\n\n"
    "## History\n\nForel named them.\n"
)
REPORT = (
    "# Ants\n\nAnts live in colonies [1].\n\n## References\n\n[1] https://ants.example/colony\n"
)
LONG = "Ants live in colonies of up to a million workers. " * 4


class EditionBuilder:
    """A valid edition of one article and one agent, `alpha`; each method adds or replaces."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.articles([{"title": ARTICLE, "url": "https://en.wikipedia.org/wiki/Parasitic_ant"}])
        self.article(ARTICLE)
        self.facts(ARTICLE, [{"statement": "Parasitic ants live in colonies of other ants."}])
        self.report("alpha", ARTICLE)

    def write(self, path: str, content: str | bytes) -> Path:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content if isinstance(content, bytes) else content.encode())
        return full

    def articles(self, rows: list[dict[str, str]]) -> None:
        """The list of articles, as CSV."""
        columns = list(dict.fromkeys(key for row in rows for key in row))
        lines = [",".join(columns), *(",".join(row.get(c, "") for c in columns) for row in rows)]
        self.write("wiki_data/ga_1.csv", "\n".join(lines) + "\n")

    def article(self, name: str, text: str = TEXT, page_id: int = 7) -> None:
        self.write(f"wiki_data/cleaned_data/article/{name}.md", text)
        raw = {"query": {"pages": {str(page_id): {"pageid": page_id, "title": name}}}}
        self.write(f"wiki_data/raw_wiki/{name}.json", json.dumps(raw))

    def facts(self, name: str, statements: Any) -> None:
        path = f"wiki_data/cleaned_data/statement/{name}_statements.json"
        self.write(path, json.dumps(statements))

    def report(self, agent: str, name: str, text: str | bytes = REPORT) -> None:
        self.write(f"test_data/{agent}/md_data/{name}.md", text)

    def document(self, agent: str, name: str, **fields: Any) -> None:
        """A report's JSON, wrapped the published way."""
        value = {"query": {"pages": {"7": {"title": name, **fields}}}}
        self.write(f"test_data/{agent}/json_data/{name}.json", json.dumps(value))

    def registry(self, agencies: Any) -> None:
        self.write("test_data/agencies.json", json.dumps({"agencies": agencies}))
