"""Lists of replica ids as a column holds them: few different ones, written and read over and over."""

import json
from functools import lru_cache


@lru_cache(maxsize=256)
def written(names: tuple[str, ...]) -> str:
    """Write a list as JSON."""
    return json.dumps(names)


@lru_cache(maxsize=256)
def read(text: str) -> tuple[str, ...]:
    """Read back a list."""
    return tuple(json.loads(text))
