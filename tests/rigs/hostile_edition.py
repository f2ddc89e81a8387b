"""An edition whose every text attacks the page that will show it.

In the layout of the Wiki Live Challenge: three articles, four agents. Each attack that could run
calls `pwned`, to which a test's browser listens; what could leave the folder leads to
`evil.invalid`, a name nobody can own. `poison` puts the same into columns that an import fills by
itself.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tasks.warehouse.pages import Page
from tasks.warehouse.results import Verdict
from tasks.warehouse.rows import Agent, Article, Assignment, Citation, Claim, Fact, Row
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

EDITION = "hostile"
RUN = "pwned.push(1)"
SCRIPT = f"<script>{RUN}</script>"
PICTURE = f"<img src=x onerror={RUN}>"
BREAKOUT = f"\"'></textarea></title></style></script>--><script>{RUN}</script>]]><!--"
TEMPLATE = "{{ 7*7 }}{% include 'x' %}${7*7}"
OVERRIDE = "invoice\u202egpj.exe"
UNSEEN = (
    "zero\u200bwidth\ufeff\u2066isolated\u2069 bell\x07 \x1b[31mred\x1b[0m \x9b32m nul-free\x01"
)
LINES = "one\u2028two\u2029three\x85four"
TOKEN = "W" * 200_000
"""A word that no line can hold."""
LONG = "Wörter" * 300
SCRIPTS_OF_OTHERS = "مرحبا بالعالم · שלום עולם · 👩‍👩‍👧‍👦🏴‍☠️ · Z͑ͫ̓a̴l̸g̷o҉"
HALF = "half a pair \ud800 here"
"""A lone surrogate: JSON can hold it, UTF-8 cannot."""

ATTACKS = (SCRIPT, PICTURE, BREAKOUT, TEMPLATE, OVERRIDE, UNSEEN, LINES, LONG, SCRIPTS_OF_OTHERS)
ADDRESSES = (
    f"javascript:{RUN}",
    f"JaVaScRiPt:{RUN}//https://evil.invalid/",
    f"java\tscript:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    f"vbscript:{RUN}",
    "file:///etc/passwd",
    "https://user:password@evil.invalid/",
    "https://evil.invalid:port/",
    'https://evil.invalid/"onmouseover="pwned.push(1)',
    "https://evil.invalid/a b",
    "https://evil.invalid/\u202egpj.exe",
    "//evil.invalid/",
    "https://пример.испытание/страница",
    "https://evil.invalid/" + "a" * 5_000,
)
GOOD = "https://example.org/lighthouse"

TITLES = (
    f"Tower {SCRIPT[:40]}",
    f"Mill &amp; {TEMPLATE}",
    "A'\"><svg onload=pwned.push(1)>",
)
AGENTS = {
    "plain": f"Same long name of an agent that is cut somewhere {SCRIPT}",
    "q'\"<b>": f"Same long name of an agent that is cut somewhere {PICTURE}",
    "__proto__": "Third",
    "constructor": "constructor",
}
"""Id → name; two names begin alike, and two mean something to a script."""
CATEGORIES = ("</option></select>" + SCRIPT, "con\u202estructor", "__proto__|2025Q2")

FACTS = (
    "The tower was first lit on 14 November 1698.",
    f"It stands on a rock {SCRIPT} in the sea {PICTURE}.",
    f"Its keeper wrote {BREAKOUT} in the log.",
    f"The word {LONG} is carved above its door.",
)


def write_edition(folder: Path) -> Path:
    """Write the edition's files; the folder to import."""
    lists = folder / "wiki_data"
    texts = lists / "cleaned_data" / "article"
    facts = lists / "cleaned_data" / "statement"
    for made in (texts, facts):
        made.mkdir(parents=True)
    with (lists / "ga_1.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["title", "url", "created_ts", "bytes", "views_total", "external_links",
                       "ga_topic_keyword", "category"])  # fmt: skip
        for number, title in enumerate(TITLES):
            rows.writerow([title, ADDRESSES[number], f"2025{4 + number:02}15120000", 1000, 5, 2,
                           SCRIPT, CATEGORIES[number]])  # fmt: skip
    for title in TITLES:
        (texts / f"{name_of(title)}.md").write_text("\n\n".join(FACTS), "utf-8")
        said = [{"statement": fact} for fact in (*FACTS, HALF)]
        (facts / f"{name_of(title)}_statements.json").write_text(json.dumps(said), "utf-8")
    agencies = {name: {"name": shown, "description": BREAKOUT} for name, shown in AGENTS.items()}
    tests = folder / "test_data"
    for agent, report in zip(AGENTS, (attacking, nested, huge, huge), strict=True):
        _write_reports(tests / agent, report())
    (tests / "agencies.json").write_text(json.dumps({"agencies": agencies}), "utf-8")
    return folder


def name_of(title: str) -> str:
    """The article's file name, as the layout has it."""
    return title.replace("/", "_").replace(" ", "_")


def attacking() -> str:
    """Markdown in which every construct is an attack."""
    links = "\n".join(_links())
    return f"""# Title {SCRIPT}

The tower was first lit on 14 November 1698 [1]. {SCRIPT} {PICTURE} It stands on a rock [2].

<div onclick="{RUN}" style="position:fixed;inset:0">raw html</div>
<iframe srcdoc="{SCRIPT}"></iframe>
<!-- a comment {SCRIPT} --> <![CDATA[ {SCRIPT} ]]> <?php {SCRIPT} ?>

{links}

![picture](https://evil.invalid/x.png "{BREAKOUT}") ![{SCRIPT}](javascript:{RUN})

Autolinks <javascript:{RUN}> <https://evil.invalid/?a=<b>> <mailto:a@evil.invalid>

| a {SCRIPT} | b |
|:--|--:|
| {PICTURE} | `{SCRIPT}` |

```html"onload={RUN}
{SCRIPT}
```

Entities &lt;script&gt;{RUN}&lt;/script&gt; &#60;script&#62; &#x202e;evil &Tab;javascript&colon;

{OVERRIDE}. {UNSEEN}. {LINES}. {SCRIPTS_OF_OTHERS}. {TEMPLATE}

{BREAKOUT}

[1]: {GOOD} "{BREAKOUT}"
[2]: javascript:{RUN}

## References

[1] {GOOD}
[2] https://evil.invalid/second
"""


def nested() -> str:
    """Constructs inside each other, deeper than any stack or page should be asked to go."""
    depth = 10_000
    return "\n\n".join(
        (
            "The tower was first lit on 14 November 1698.",
            ">" * depth + " quoted",
            "\n".join("  " * n + "- item" for n in range(300)),
            "*" * depth + "emphasis" + "*" * depth,
            "[" * depth + "bracket" + "](https://evil.invalid/)" * 200 + "]" * depth,
            "`" * 5_001 + " code",
            "<" * depth,
            "&" * depth,
            "![" * 3_000 + "x" + "](y)" * 3_000,
        )
    )


def huge() -> str:
    """Words that no line and hardly a page can hold."""
    return (
        f"{TOKEN}\n\n# {TOKEN[:5_000]}\n\n| {TOKEN[:5_000]} | b |\n|--|--|\n| c | d |\n\n{FACTS[0]}"
    )


def poison(warehouse: Warehouse, edition: str = EDITION) -> None:
    """Put attacks into columns that judges, fetching and extraction fill, and into names, where an
    import refuses characters that nobody sees."""
    of = "edition = $1"
    _rewrite(warehouse, Verdict, of, edition, _verdict)
    _rewrite(warehouse, Page, of, edition, _page)
    _rewrite(warehouse, Citation, of, edition, _citation)
    _rewrite(warehouse, Fact, of, edition, lambda n, _: {"section": _attack(n)})
    _rewrite(warehouse, Claim, of, edition, lambda n, _: {"section": _attack(n)})
    _rewrite(warehouse, Agent, of, edition, lambda n, agent: {
        "description": _attack(n), "name": agent.name.replace("Third", OVERRIDE)
    })  # fmt: skip
    _rewrite(warehouse, Article, of, edition, lambda n, article: {
        "url": ADDRESSES[n], "title": article.title.replace("Mill", f"Mill {OVERRIDE}")
    })  # fmt: skip
    _rewrite(warehouse, Assignment, of, edition,
             lambda n, _: {"prompt": TOKEN[:3_000] + _attack(n), "query": _attack(n)})  # fmt: skip


def _rewrite(warehouse: Warehouse, model: type[Row], of: str, edition: str, change: Any) -> None:
    rows = warehouse.rows(model, of, [edition])
    changed = [row.model_copy(update=change(n, row)) for n, row in enumerate(rows)]
    warehouse.write(Change(model, changed, replacing={"edition": edition}))


def _attack(number: int) -> str:
    return ATTACKS[number % len(ATTACKS)]


def _verdict(number: int, _: Verdict) -> dict[str, Any]:
    label = {3: SCRIPT, 5: "__proto__"}.get(number)
    said = {
        "reason": _attack(number),
        "evidence": _attack(number + 1),
        "call_id": _attack(number + 2)[:300],
        "model_version": _attack(number + 3)[:300],
        "prompt_sha": f"<b>{number}",
    }
    return said | ({"label": label} if label else {})


def _page(number: int, _: Page) -> dict[str, Any]:
    return {"title": _attack(number), "error": _attack(number + 1), "final_url": ADDRESSES[0],
            "text": f"{BREAKOUT} {_attack(number + 2)} {TOKEN[:20_000]}"}  # fmt: skip


def _citation(number: int, row: Citation) -> dict[str, Any]:
    return {"raw_url": ADDRESSES[number % len(ADDRESSES)], "marker": _attack(number)}


def _links() -> Iterator[str]:
    for number, address in enumerate(ADDRESSES):
        short = address[:300]
        yield f'[text {number}]({short}) [<{SCRIPT}>](<{short}> "{BREAKOUT}")'
    yield "[reference][1] [javascript reference][2] [https://example.org](javascript:pwned.push(1))"


def _write_reports(folder: Path, text: str) -> None:
    (folder / "md_data").mkdir(parents=True)
    (folder / "json_data").mkdir()
    for title in TITLES:
        name = name_of(title)
        (folder / "md_data" / f"{name}.md").write_text(text, "utf-8")
        (folder / "json_data" / f"{name}.json").write_text(json.dumps(_document(title)), "utf-8")


def _document(title: str) -> dict[str, Any]:
    """MediaWiki's answer with claims that cite every address, and copies of two pages."""
    addresses = [GOOD, "https://evil.invalid/second", *ADDRESSES]
    copies = {
        str(n): {"url": url, "title": BREAKOUT, "content": _content(), "error": HALF if n else ""}
        for n, url in enumerate(addresses)
    }
    page = {
        "title": title,
        "citation_urls": {str(n): url for n, url in enumerate(addresses)},
        "citation_contents": copies,
        "statements": [
            {"fact": said, "ref_idx": ["0", str(n % len(addresses))]}
            for n, said in enumerate(_claims())
        ],
    }
    return {"query": {"pages": {"1": page}}}


def _claims() -> Sequence[str]:
    return (*FACTS, *ATTACKS, HALF, TOKEN[:10_000])


def _content() -> str:
    return f"{FACTS[0]} {BREAKOUT} {SCRIPT} {LINES} " * 3
