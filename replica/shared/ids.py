"""Ids of what is shared, made here."""

from collections.abc import Callable

from core.ids import Ulids


def new_id(prefix: str, random: Callable[[int], bytes], now_ms: int) -> str:
    """An id: a prefix and an uppercase ULID."""
    return prefix + Ulids(random).after("", None, now_ms).upper()
