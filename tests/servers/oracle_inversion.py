"""How the oracle turns articles around: by names, numbers and rare words, the same every time.

It knows the prompts of `configs/prompts/inversion` by the names of their blocks and reads nothing
but what stands in them. A target is a name that several sentences share; a property is the rare
words of one of these, in alphabetical order; a question lists properties. It answers a question
from a text by the name whose sentences hold most of the question's words.
"""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any

from tests.servers.fences import Parsed

Answer = dict[str, Any]
LEAST_SENTENCES = 4
"""Sentences that must share a name."""
WORDS_PER_PROPERTY = 6
KNOWN_SHARE = 0.7
"""Of the question's telling words, those that must stand in a text that answers it."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NAME = re.compile(r"\b[A-Z][^\W\d_]{2,}(?: [A-Z][^\W\d_]{2,}){1,2}\b")
_TELLING = re.compile(r"\b(?:[A-Z][^\W\d_]{3,}|\d[\d,.]*\d|[^\W\d_]{8,})\b")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_PROPERTY = re.compile(r"\(\d+\) ([^;?]*)")
_MONTHS = frozenset(
    [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]
)
CATEGORIES = (
    ("flights", ("aircraft", "airline", "railway", "ship")),
    ("scifacts-geo", ("tornado", "earthquake", "species", "fossil", "hurricane")),
    ("prior-art", ("novel", "album", "film", "opera")),
)


def inverted(prompt: Parsed, memory: Sequence[tuple[str, str]] = ()) -> Answer | None:
    """The answer to a step of problem inversion; None to any other prompt.

    memory: (title, text) of articles that it knows by heart.
    """
    names = {block.name for block in prompt.blocks}
    if "source_article" in names:
        title, text = prompt.texts("article_title")[0], prompt.texts("source_article")[0]
        most = int(re.findall(r"at most (\d+)", prompt.tail)[-1])
        return {"targets": targets(title, text)[:most]}
    if "not_to_be_named" in names:
        return {"question": _posed(prompt)}
    if "posed_question" in names:
        return {"others": _others(prompt.texts("posed_question")[0])}
    if "question_from_memory" in names:
        question = prompt.texts("question_from_memory")[0]
        known = (_remembered(question, *article) for article in memory)
        return {"answers": next((answers for answers in known if answers), [])}
    if "question_to_page" in names:
        question = prompt.texts("question_to_page")[0]
        return {"answers": _read_from(question, prompt.texts("only_page")[0])}
    if "question_to_rate" in names:
        return _effort(prompt)
    return None


def targets(title: str, text: str) -> list[Answer]:
    """What several sentences share, the most often named first."""
    found = _by_name(text)
    of_title = _words(title)
    ranked = sorted(found, key=lambda name: (-len(found[name]), name))
    made: list[Answer] = []
    for name in ranked:
        if _words(name) & of_title or len(found[name]) < LEAST_SENTENCES:
            continue
        others = {word for other in made for word in _words(other["answer"])}
        if not _words(name) & others:
            made.append(_target(name, found[name], of_title))
    return [target for target in made if len(target["properties"]) >= LEAST_SENTENCES - 1]


def _target(name: str, sentences: list[str], of_title: frozenset[str]) -> Answer:
    dated = next((s for s in sentences if _YEAR.search(s)), None)
    year = _YEAR.findall(dated)[0] if dated else None
    hidden = _words(name) | of_title | ({year} if year else set())
    properties = []
    for sentence in sentences:
        telling = _telling(sentence, hidden)
        if len(telling) >= 3:
            properties.append({"text": f"linked to {' and '.join(telling)}", "sentence": sentence})
    whole = " ".join(sentences).lower()
    category = next((c for c, signs in CATEGORIES if any(s in whole for s in signs)), "entities")
    sub_claims = [{"name": "year", "value": year, "sentence": dated}] if year else []
    return {
        "answer": name, "also": [], "sentence": sentences[0], "kind": "person, place or work",
        "category": category, "properties": properties[:8], "sub_claims": sub_claims,
    }  # fmt: skip


def _by_name(text: str) -> dict[str, list[str]]:
    """Names that stand amid a sentence, with all their sentences."""
    sentences = [
        " ".join(sentence.split())
        for line in text.splitlines()
        if not line.lstrip().startswith("#")
        for sentence in _SENTENCE_END.split(line)
        if len(sentence.split()) > 6
    ]
    inside = {
        found[0]
        for sentence in sentences
        for found in _NAME.finditer(sentence)
        if found.start() and not _MONTHS & set(found[0].split())
    }
    return {name: [s for s in sentences if re.search(rf"\b{name}\b", s)] for name in inside}


def _telling(sentence: str, hidden: frozenset[str] | set[str]) -> list[str]:
    """Names, numbers and long words that are not hidden, longest first, then by the alphabet."""
    words = {word for word in _TELLING.findall(sentence) if not _words(word) & hidden}
    return sorted(sorted(words, key=lambda word: (-len(word), word))[:WORDS_PER_PROPERTY])


def _posed(prompt: Parsed) -> str:
    """Without what the problem of an earlier one names."""
    problem = (prompt.texts("problem") or [""])[0]
    unwanted = _words(problem.partition(": ")[2])
    properties = [
        " ".join(word for word in text.split() if not _words(word) & unwanted)
        for text in prompt.texts("property")
    ]
    listed = "; ".join(f"({n}) {text}" for n, text in enumerate(properties, 1))
    asked = ", ".join(prompt.texts("asked_of_it"))
    more = f" Give its {asked} as well." if asked else ""
    return (
        f"Which {prompt.texts('kind')[0]} fits each of these descriptions: {listed}?{more} "
        "Support every answer with published sources."
    )


def _others(question: str) -> list[Answer]:
    """By hash: most have none once a fourth property is named, a few always have three."""
    drawn = sha256(question.encode("utf-8", "surrogatepass")).digest()[0]
    n_properties = len(_PROPERTY.findall(question))
    n = 3 if drawn < 24 else int(n_properties < 4 and drawn < 128)
    return [
        {"reason": "Its records are lost.", "value": f"The Unrecorded Namesake {number}"}
        for number in range(1, n + 1)
    ]


def _remembered(question: str, title: str, text: str) -> list[Answer]:
    """The target of an article known by heart that was turned into this question."""
    asked = _words(question)
    for target in targets(title, text):
        telling = [_words(prop["text"]) for prop in target["properties"][:3]]
        if all(words <= asked for words in telling):
            subs = [{"name": c["name"], "value": c["value"]} for c in target["sub_claims"]]
            return [{"answer": target["answer"], "sub_claims": subs}]
    return []


def _read_from(question: str, page: str) -> list[Answer]:
    telling = frozenset(
        word for text in _PROPERTY.findall(question) for word in _words(text)
    ) - {"linked", "to", "and"}  # fmt: skip
    if not telling or len(telling & _words(page)) < KNOWN_SHARE * len(telling):
        return []
    scores = Counter(
        {
            name: sum(len(telling & _words(sentence)) for sentence in sentences)
            for name, sentences in _by_name(page).items()
            if not _words(name) & telling
        }
    )
    best = sorted(scores, key=lambda name: (-scores[name], name))[:1]
    return [{"answer": name, "sub_claims": []} for name in best]


def _effort(prompt: Parsed) -> Answer:
    """A query and a unit for every telling word, a unit for every source to be confirmed."""
    properties = prompt.texts("property")
    telling = [word for text in properties for word in text.split()[2:] if word != "and"]
    units = [f"what {word} has to do with it" for word in telling]
    units += [f"a source for {name}" for name in ("the answer", *prompt.texts("asked_of_it"))]
    units += [f"a source for property {n}" for n in range(1, len(properties) + 1)]
    queries = [f"{first} {second}" for first, second in pairwise(telling)]
    return {"queries": queries, "units": units, "minutes": 3 * len(queries) or 1}


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))
