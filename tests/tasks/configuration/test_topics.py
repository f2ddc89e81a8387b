"""The 15 categories of good articles, and what belongs to each."""

import shutil
from pathlib import Path

import pytest

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import PACKAGED
from tasks.configuration.wikipedia import find_category, load_descriptions

NAMES = {
    "Agriculture, food and drink": (
        "agriculture; agriculture, food and drink; agriculture, food, and drink; cuisine; "
        "cuisines; cultivation; drink; farming and cultivation; farming; food and drink; food"
    ),
    "Art and architecture": "art; architecture; art and architecture",
    "Engineering and technology": (
        "engtech; applied sciences and technology; applied sciences; computers; computing and "
        "engineering; computing; eng; engineering; engineering and technology; technology; "
        "transport"
    ),
    "Geography and places": "geography; geography and places; places",
    "History": (
        "history; archaeology; heraldry; nobility; royalty; royalty, nobility and heraldry; "
        "world history"
    ),
    "Language and literature": (
        "langlit; language and literature; languages and linguistics; languages and "
        "literature; languages; linguistics; lit; literature"
    ),
    "Mathematics": "math; mathematics and mathematicians; mathematics; maths",
    "Media and drama": (
        "drama; ballet; dance; film; films; media and drama; media; opera; television; "
        "theater; theatre; theatre, film and drama"
    ),
    "Music": "music; albums; classical compositions; other music articles; songs",
    "Natural sciences": (
        "natsci; astronomy; astrophysics; atmospheric science; biology and medicine; biology; "
        "chemistry and materials science; chemistry; cosmology; earth science; earth "
        "sciences; geology; geophysics; medicine; meteorology and atmospheric sciences; "
        "meteorology; mineralogy; natural science; natural sciences; physics and astronomy; "
        "physics"
    ),
    "Philosophy and religion": (
        "philrelig; mysticism; myth; mythology; phil; philosophy and religion; philosophy; "
        "relig; religion; religion, mysticism and mythology"
    ),
    "Social sciences and society": (
        "socsci; business and economics; business; culture and society; culture; culture, "
        "society and psychology; economics and business; economics; education; gov; "
        "government; journalism and media; journalism; law; magazines and print journalism; "
        "media and journalism; politics and government; politics; psychology; social science; "
        "social sciences and society; social sciences; society"
    ),
    "Sports and recreation": (
        "sports; everyday life; everydaylife; games; recreation; sport and recreation; sport; "
        "sports and recreation"
    ),
    "Video games": "video games; video and computer games",
    "Warfare": (
        "war; aircraft; battles and exercises; battles; decorations and memorials; military; "
        "military people; units; war and military; warfare; warships; weapons and buildings; "
        "weapons"
    ),
}
"""Category → the topics that the wiki's tools for reviewers accept for it."""


def test_every_category_is_described() -> None:
    described = load_descriptions()
    assert len(described) == 15
    assert all(described.values())
    assert [find_category(name) for name in described] == [*described]


def test_a_description_of_no_category_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "good_article_topics.yaml"
    shutil.copy(PACKAGED / path.name, path)
    path.write_text(path.read_text("utf-8").replace("  Music: songs", "  Musik: songs"), "utf-8")
    with pytest.raises(ConfigurationError, match="Musik is not one of the categories"):
        load_descriptions(tmp_path)


def test_names_that_the_wiki_s_reviewers_use_have_the_category_of_the_wiki_s_list() -> None:
    for category, names in NAMES.items():
        assert {name: find_category(name) for name in names.split("; ")} == dict.fromkeys(
            names.split("; "), category
        )
