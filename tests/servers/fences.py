"""Reading a prompt the way a careful model should: what is fenced, and what is not.

A block begins at a line `<<<BEGIN name code>>>` and ends only at the line `<<<END name code>>>`
with the same name and the same 16 hex digits. Anything else that looks like a fence is text.
"""

import re
from dataclasses import dataclass

_BEGIN = re.compile(r"^<<<BEGIN (?P<name>\w+) (?P<code>[0-9a-f]{16})>>>\n", re.M)
_NUMBER = re.compile(r"\d+")


@dataclass(slots=True)
class Block:
    """One fenced text."""

    name: str
    text: str
    heading: str
    """The unfenced text between the block before it and this one."""

    @property
    def number(self) -> int:
        """The number its heading ends with: `Item 3`."""
        found = _NUMBER.findall(self.heading)
        return int(found[-1]) if found else 0


@dataclass(slots=True)
class Parsed:
    """A prompt in its parts."""

    blocks: list[Block]
    tail: str
    """What stands after the last block."""

    @property
    def outside(self) -> str:
        """Everything that is not fenced."""
        return "\n".join((*(block.heading for block in self.blocks), self.tail))

    def texts(self, name: str) -> list[str]:
        return [block.text for block in self.blocks if block.name == name]


def parse(user: str) -> Parsed:
    """A user turn in blocks and what stands between them."""
    blocks: list[Block] = []
    at = looked = 0
    while begun := _BEGIN.search(user, looked):
        end = f"<<<END {begun['name']} {begun['code']}>>>"
        stop = _line(user, end, begun.end())
        if stop < 0:  # never closed: no block, and whatever follows it may be one
            looked = begun.end()
            continue
        text = user[begun.end() : max(begun.end(), stop - 1)]
        blocks.append(Block(begun["name"], text, user[at : begun.start()]))
        at = looked = stop + len(end)
    return Parsed(blocks, user[at:])


def _line(text: str, line: str, start: int) -> int:
    """Where `line` stands as a whole line, from `start` on; -1 if it does not."""
    at = text.find(line, start)
    while at >= 0:
        after = at + len(line)
        if text[at - 1] == "\n" and text[after : after + 1] in ("", "\n"):
            return at
        at = text.find(line, after)
    return -1
