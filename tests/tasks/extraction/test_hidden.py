import pytest

from tasks.extraction.hidden import hides


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "color: red; DISPLAY : NONE !important;",
        "display:block; /* no: */ display:none",
        "visibility:hidden",
        "font-size:0",
        "font-size: 0.0em",
        "opacity:0",
        "height:0; overflow:hidden",
        "max-height: 0px; overflow: hidden",
        "position:absolute; left:-9999px",
        "text-indent:-9999px",
        "color:transparent",
    ],
)
def test_a_style_that_shows_nothing_hides(style: str) -> None:
    assert hides("span", {"style": style})


@pytest.mark.parametrize(
    "style",
    [
        "",
        "display:none; display:block",
        "/* display:none */ color:red",
        "font-size:0.8em",
        "opacity:0.6",
        "opacity:0; transform:translateY(20px)",
        "background-clip:text; color:transparent",
        "height:0",
        "overflow:hidden; width:10px; height:1px",
        "position:absolute; left:-4px",
        "text-indent:-18pt",
        "visibility",
    ],
)
def test_a_style_that_shows_something_hides_nothing(style: str) -> None:
    assert not hides("span", {"style": style})


def test_tags_and_attributes_hide_what_no_reader_sees() -> None:
    assert hides("template", {})
    assert hides("p", {"hidden": None})
    assert not hides("details", {})
    assert not hides("span", {"class": "sr-only", "aria-hidden": "true", "style": None})
