"""Asking about many items in several calls."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

ItemT = TypeVar("ItemT")
BatchT = TypeVar("BatchT")
AnswerT = TypeVar("AnswerT")


def split_batches(items: Sequence[ItemT], size: int) -> list[Sequence[ItemT]]:
    """Split items, in order, into batches of `size`; the last may be smaller."""
    return [items[start : start + size] for start in range(0, len(items), size)]


async def ask_first_alone(
    ask: Callable[[BatchT], Awaitable[Sequence[AnswerT]]], batches: Sequence[BatchT]
) -> list[AnswerT]:
    """Ask about each batch; return all answers in order.

    The first call is made alone, so that what all calls have in common is in the provider's cache
    for the others.
    """
    answered = [await ask(batch) for batch in batches[:1]]
    answered += await asyncio.gather(*(ask(batch) for batch in batches[1:]))
    return [answer for answers in answered for answer in answers]
