"""The page: hostile texts stay texts, and nothing is loaded from anywhere."""

import base64
import json
import re
from hashlib import sha256
from html.parser import HTMLParser

from tasks.annotation.sheets import render_page
from tasks.annotation.table import make_rows
from tests.tasks.annotation.sheets import sheet_of, subject

HOSTILE = """# <script>alert(1)</script>

</div></body><img src=x onerror=alert(2)> <a href="javascript:alert(3)">x</a>

[click](javascript:alert(4)) ![pixel](https://evil.example/p.png) <https://evil.example/auto>

[ref]: https://evil.example/ref

```"><script>alert(5)</script>
</script><script>alert(6)</script>
```
{{ 7 * 7 }} {% raw %} \u202e"""


class Seen(HTMLParser):
    """Elements and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def hostile_page() -> str:
    return render_page(sheet_of(subject("agent", "x", HOSTILE, "fair?", text=HOSTILE)))


def test_a_hostile_text_adds_no_element_that_runs_or_loads() -> None:
    seen = Seen(hostile_page())
    assert seen.tags.count("script") == 2
    assert not {"img", "a", "iframe", "link", "object", "form"} & set(seen.tags)
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert not [name for name, _ in seen.attributes if name in ("src", "href")]


def test_templates_in_a_text_are_not_run() -> None:
    assert "{{ 7 * 7 }}" in hostile_page()


def test_the_policy_allows_exactly_the_script_and_the_style_of_the_page() -> None:
    page = hostile_page()
    (policy,) = [v for _, v in Seen(page).attributes if v and v.startswith("default-src 'none'; ")]
    for tag in ("style", "script"):
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        (code,) = [code for code in found if "alert(" not in code]
        digest = base64.b64encode(sha256(code.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_the_rows_that_the_page_downloads_are_those_of_the_csv() -> None:
    sheet = sheet_of(subject("agent", "x", HOSTILE, "=1+1", text=HOSTILE))
    data = re.search(
        r'<script type="application/json" id="rows">(.*?)</script>', render_page(sheet)
    )
    assert data
    assert json.loads(data[1])["rows"] == make_rows(sheet)


def test_a_pair_of_texts_is_shown_once_however_many_questions_it_has() -> None:
    criteria = [f"criterion {n}" for n in range(39)]
    page = render_page(sheet_of(subject("agent", "x", *criteria, text="a rare word: zwieback")))
    assert page.count("zwieback") == 1
    assert Seen(page).tags.count("fieldset") == 39


def test_every_question_has_a_field_for_the_reason_and_a_choice_for_each_label() -> None:
    tags = Seen(render_page(sheet_of(subject("agent", "x", "clear?", "fair?")))).tags
    assert tags.count("textarea") == 2
    assert tags.count("input") == 6
