"""The comparison behind the figures of Markdown quality sees what is lost and what is added."""

from tests.tasks.wikipedia.word_comparison import GAP, compare, with_gaps


def test_equal_words_in_another_dress_are_equal() -> None:
    compared = compare("# A ship\nOf 10⁶ **tons**.", "# A ship\n\n1. of 106 tons")
    assert (compared.recall, compared.precision, compared.differences) == (1.0, 1.0, ())


def test_a_lost_word_lowers_recall_and_an_added_one_precision() -> None:
    compared = compare("one two three four", "one three four five")
    assert (compared.recall, compared.precision) == (0.75, 0.75)
    assert [(d.published, d.ours) for d in compared.differences] == [("two", ""), ("", "five")]


def test_words_in_another_order_are_in_the_bag_only() -> None:
    compared = compare("a b c d", "c d a b")
    assert (compared.recall, compared.bag_recall) == (0.5, 1.0)


def test_words_of_a_missing_template_are_not_expected_but_those_elsewhere_are() -> None:
    compared = compare("it was 5 km long and red", f"it was {GAP} long and")
    assert compared.n_by_templates == 2
    assert compared.recall == 4 / 5


def test_nothing_has_no_shares() -> None:
    assert compare("", "").recall is None


def test_a_missing_template_leaves_a_sign() -> None:
    link = '<a class="new" href="/w/index.php?title=Template:X&amp;redlink=1">Template:X</a>'
    assert GAP in with_gaps(f"<p>a{link}b</p>")
