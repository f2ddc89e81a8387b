"""Tell the article from the rest of a rendered wiki page: boxes, navigation, references.

Names are the classes, ids and roles of MediaWiki's legacy parser, of Parsoid, and of English
Wikipedia's templates.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote


def split_names(*lines: str) -> frozenset[str]:
    """Return the words of all lines."""
    return frozenset(word for line in lines for word in line.split())


TAGS = split_names(
    "script style link meta noscript template head title base input button select option",
    "textarea label form iframe object embed canvas svg audio video source track map area img",
    "figure figcaption figure-inline nav",
)
"""Elements without prose, and figures with their captions: reports have no pictures."""

CLASSES = split_names(
    # boxes beside the article
    "infobox infobox_v2 infobox_v3 vertical-navbox sidebar navbox navbox-styles navbar ambox ombox",
    "imbox cmbox tmbox fmbox dmbox asbox mbox-small metadata sistersitebox side-box portal-bar",
    "portalbox portal succession-box authority-control",
    # navigation, and other parts of the page that are not its text
    "toc hatnote dablink rellink shortdescription noprint nomobile navigation-not-searchable",
    "mw-editsection mw-jump-link mw-indicators mw-indicator printfooter catlinks",
    "mw-collapsible-toggle mw-empty-elt",
    # pictures, maps, sound
    "thumb gallery gallerybox locmap mw-kartographer-container timeline-wrapper mw-graph",
    "listen haudio mw-tmh-player mediaContainer ext-phonos-attribution mw-broken-media",
    # citation markers, references, maintenance notes about them
    "mw-ref mw-references-wrap references reflist refbegin mw-cite-backlink Inline-Template",
    "Template-Fact error mw-ext-cite-error scribunto-error",
    # hidden by style sheets
    "sortkey geo-nondefault geo-multi-punct geo-inline-hidden mwe-math-fallback-image-inline",
)

IDS = split_names("toc coordinates catlinks siteSub contentSub mw-navigation")
ROLES = split_names("navigation search")

_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


def is_noise(tag: str, attributes: Mapping[str, str | None], classes: frozenset[str]) -> bool:
    """Return whether an element and its content are not part of the article's text."""
    if not attributes or tag in TAGS:
        return tag in TAGS
    return (
        not CLASSES.isdisjoint(classes)
        or (tag == "sup" and "reference" in classes)
        or (tag == "a" and _is_noise_link(attributes, classes))
        or "hidden" in attributes
        or attributes.get("id") in IDS
        or attributes.get("role") in ROLES
        or "mw:File" in (attributes.get("typeof") or "")
        or _HIDDEN.search(attributes.get("style") or "") is not None
    )


def is_missing_template(attributes: Mapping[str, str | None], classes: frozenset[str]) -> bool:
    """Return whether a link stands for a template that the wiki does not have."""
    address = unquote(attributes.get("href") or "")
    return "new" in classes and "title=Template:" in address


def _is_noise_link(attributes: Mapping[str, str | None], classes: frozenset[str]) -> bool:
    return (
        "autonumber" in classes  # [1], for a URL without link text
        or is_missing_template(attributes, classes)
        or ("new" in classes and "wpDestFile=" in (attributes.get("href") or ""))  # no such file
    )
