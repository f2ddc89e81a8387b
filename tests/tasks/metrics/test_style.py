"""Style figures: what they count, and that no words give no figure."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.criteria import WordsToWatch, load_words_to_watch
from tasks.configuration.errors import ConfigurationError
from tasks.extraction.shape import measure_shape
from tasks.metrics.style import measure_style

WORDS = load_words_to_watch()
ARTICLE = """# Northern Line

The Northern Line is a railway.[1] It opened in 1875.[2][3]

## History

The iconic line was built ten years ago, [it is said](https://example.org/a_(b)).

### Closure

Of course, it closed.[1, 2]

## References

[1] https://example.org/renowned Renowned, famous and prestigious.
"""
MARKUP = st.text(alphabet="[]()!|#*_`.,1aA \n<>'\"【】^:/h-", max_size=300) | st.text(max_size=200)


def value(markdown: str, name: str) -> float | None:
    return measure_style(measure_shape(markdown), WORDS)[name].value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("words", 25),
        # Words to watch are counted per thousand, outside the references.
        ("words_to_watch_puffery", 1_000 / 25),
        ("words_to_watch_editorializing", 1_000 / 25),
        ("words_to_watch_relative_time", 1_000 / 25),
        ("words_to_watch", 3_000 / 25),
        # The lead is what stands before the first section.
        ("lead_words", 10),
        ("lead_share", 10 / 25),
        # Title and references are no sections.
        ("sections", 2),
        ("section_depth", 2),
        # Each cited source counts once a marker: [1], [2], [3], one link, [1, 2].
        ("citations_per_100_words", 600 / 25),
    ],
)
def test_figures_of_an_article_counted_by_hand(name: str, expected: float) -> None:
    assert value(ARTICLE, name) == pytest.approx(expected)


def test_a_word_to_watch_is_a_whole_word_in_any_case() -> None:
    assert value("Greater Manchester, hitherto unfound.", "words_to_watch") == 0
    assert value("GREAT", "words_to_watch_puffery") == 1_000
    assert value("The lion’s share", "words_to_watch_cliches_and_idioms") == pytest.approx(
        1_000 / 3
    )


@pytest.mark.parametrize(
    ("text", "n"),
    [("It opened【3†source】.", 1), ("It opened[^1].", 1), ("It opened[^note].", 1),
     ("It opened [(1)](https://x.org).", 1), ("It opened [[4]](https://x.org).", 1),
     ("See [a](/local).", 0), ("In 1875 [sic] it opened.", 0)],
)  # fmt: skip
def test_every_shape_of_marker_is_one_citation(text: str, n: int) -> None:
    assert measure_shape(text).n_citations == n


def test_simple_prose_reads_easier_than_learned_prose() -> None:
    easy = value("The cat sat. The dog ran. We saw it.", "flesch")
    hard = value(
        "Institutional multidimensionality necessitates organizational reconfiguration.", "flesch"
    )
    assert easy is not None
    assert hard is not None
    assert easy > 100 > 0 > hard


@pytest.mark.parametrize("text", ["", "\n\n", "# ", "***", "[1]", "![](https://x.org/a.png)"])
def test_a_text_without_words_has_no_figures(text: str) -> None:
    assert {figure.value for figure in measure_style(measure_shape(text), WORDS).values()} == {None}


@settings(deadline=None)
@given(MARKUP)
def test_diagnosing_never_raises(text: str) -> None:
    figures = measure_style(measure_shape(text), WORDS)
    names = {f"words_to_watch_{category}" for category in WORDS.categories}
    assert names < set(figures)
    share = figures["lead_share"].value
    assert share is None or 0 <= share <= 1


@pytest.mark.parametrize("unit", ["[", "(", " ", "](", "[1", "【", "[^", "# ", "\n", "a "])
def test_a_hostile_text_is_diagnosed_to_its_end(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert "flesch" in measure_style(measure_shape(text), WORDS)


def test_a_misspelt_key_in_the_list_is_named(tmp_path: Path) -> None:
    path = tmp_path / "words.yaml"
    path.write_text("guideline: x\nversion: 1\ncategorys: {}\n", "utf-8")
    with pytest.raises(ConfigurationError, match="categorys"):
        load_words_to_watch(path)


def test_only_the_given_lists_count() -> None:
    words = WordsToWatch(guideline="none", version=1, categories={"fish": ("cod", "* herring")})
    figures = measure_style(measure_shape("Cod and a red herring."), words)
    assert figures["words_to_watch_fish"].value == pytest.approx(2_000 / 5)
