"""Files that would crash, hang or mislead: each is refused at once, with its name and the line."""

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import PACKAGED
from tasks.configuration.loading import load_config, read_mapping
from tasks.configuration.rubrics import RubricEntry

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)
LONG_TEXT = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 1_000)}]\n"
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [[*a{n - 1}]]\n" for n in range(1, 40))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title: x\nitems: " + "[" * 60 + "]" * 60, r"line 2: nested more than 50 deep"),
        ("items: " + "[" * 200_000 + "]" * 200_000, r"line 1: nested more than 50 deep"),
        ("items: " + "{a: " * 60 + "}" * 60, r"nested more than 50 deep"),
        (CHAIN, r"line \d+: nested more than 50 deep"),
        (BOMB, r"line \d+: too large with its aliases expanded"),
        (LONG_TEXT, r"line 2: too large with its aliases expanded"),
        ("a: &a [*a]\n", r"line 1: .*the alias \*a is undefined, or refers to its own parent"),
        ("a: x\nb: *nowhere\n", r"line 2: .*the alias \*nowhere is undefined"),
        ("title: x\nitems: " + "9" * 5_000, r"line 2.* '9{40}' .*cannot be read as a number"),
        ("items: 0x" + "f" * 5_000, r"line 1.*cannot be read as a number"),
        ("items: 1" + ":59" * 5_000 + ".0", r"line 1.*cannot be read as a number"),
        ("items: 0b_", r"line 1.*cannot be read as a number"),
        ("\nitems: 2026-13-45", r"line 2.*'2026-13-45' .*date"),
        ("title: x\nitems: 1\ntitle: y\n", r"line 3.*the key 'title' is given twice"),
        ("items:\n- {id: a, yes: 1, true: 2}\n", r"line 2.*the key 'True' is given twice"),
        ("items: !!bool x", r"line 1: the tag .*bool"),
        ("title: [", r"not valid YAML: line [12]"),
        ("title: \x00", r"not valid YAML"),
        ("x: " + "y" * 2_000_001, r"larger than 2,000,000 bytes"),
    ],
    ids=lambda said: said[:30],
)
def test_yaml_is_refused_with_the_line(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, "utf-8")
    began = time.monotonic()
    with pytest.raises(ConfigurationError, match=rf"mine\.yaml.*{says}") as caught:
        load_config(file, RubricEntry)
    assert len(str(caught.value)) < 1_000
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
            "nested too deeply, or a number is too long",
        ),
        ('{"a": ' + "9" * 5_000 + "}", "nested too deeply, or a number is too long"),
        ('{"a": 1, "a": 2}', "the key 'a' is given twice"),
        ('{"a": ', "not valid JSON"),
    ],
    ids=lambda said: said[:30],
)
def test_json_is_refused_too(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigurationError, match=rf"mine\.json.*{says}"):
        read_mapping(file)


def test_what_was_found_is_told_in_few_words(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump({"title": "T", "items": {f"k{n}": n for n in range(3_000)}}))
    with pytest.raises(ConfigurationError, match="`items`") as caught:
        load_config(file, RubricEntry)
    assert len(str(caught.value)) < 400
    file.write_text(yaml.safe_dump({"title": "T", "items": [{}] * 1_000}))
    with pytest.raises(ConfigurationError, match="and 1,980 more") as caught:
        load_config(file, RubricEntry)
    assert len(str(caught.value).splitlines()) == 21


def test_a_few_aliases_merges_and_usual_scalars_are_read_as_ever(tmp_path: Path) -> None:
    text = "a: &a {x: 1, y: 2026-01-02}\nb: {<<: *a, x: 2.5}\nc: [*a, yes, 0x1f, ~, '1', 1_000]\n"
    text += "d: [&d {<<: *a, x: 3}]\ne: {<<: *d, x: 4}\n"
    file = tmp_path / "mine.yaml"
    file.write_text(text, "utf-8")
    assert read_mapping(file) == yaml.safe_load(text)


def test_every_file_of_ours_is_read_as_before() -> None:
    files: list[Any] = sorted(PACKAGED.rglob("*.yaml"))
    assert len(files) > 15
    for file in files:
        assert read_mapping(file) == yaml.safe_load(file.read_text("utf-8"))
