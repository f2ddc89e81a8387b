"""Languages are told from the text, or not at all."""

import pytest

from tasks.judges.text import identify_language

ENGLISH = (
    "The lighthouse was designed by James Douglass and first lit on 18 May 1882. It stands on a "
    "reef south of the city, and its light can be seen from a distance of 22 nautical miles."
)
FRENCH = (
    "Le phare a été conçu par James Douglass et allumé pour la première fois le 18 mai 1882. Il "
    "se dresse sur un récif au sud de la ville, et sa lumière se voit à 22 milles nautiques."
)
CHINESE = (
    "灯塔由詹姆斯·道格拉斯设计，于一八八二年五月十八日首次点亮。它矗立在城市以南的礁石上。" * 4
)


@pytest.mark.parametrize(("text", "code"), [(ENGLISH, "en"), (FRENCH, "fr"), (CHINESE, "zh")])
def test_a_text_of_some_sentences_has_a_language(text: str, code: str) -> None:
    assert identify_language(text) == code


@pytest.mark.parametrize("text", ["", "1882", "James Douglass", "Le phare. " * 3])
def test_a_few_words_have_none(text: str) -> None:
    assert identify_language(text) is None


def test_a_list_of_places_and_a_text_in_two_languages_have_none() -> None:
    places = (
        "Oslo, Bergen, Trondheim, Stavanger, Drammen, Fredrikstad, Kristiansand, Sandnes, Ålesund, "
        "Bodø, Arendal, Hamar, Larvik, Halden, Moss, Harstad"
    )
    both = (
        "The keeper lived there. Le gardien habitait dans la tour. The tower is red. La tour est "
        "rouge et le phare est blanc. The light is seen from afar."
    )
    assert identify_language(places) is identify_language(both) is None
