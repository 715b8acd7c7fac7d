"""The program that searches for an adapter's patterns, a process of its own: see `vectors.runner.patterns`.

It reads a question a line, `{"pattern": …, "text": …}`, and answers each with `{"found": …}`, the place of the
first match in bytes of UTF-8 or null, or with `{"fault": …}` where the pattern is none.
"""

import json
import sys
from functools import lru_cache
from typing import Any

import regress


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> regress.Regex:
    return regress.Regex(pattern)


def _answer(pattern: str, text: str) -> dict[str, Any]:
    try:
        match = _compiled(pattern).find(text)
    except (regress.RegressError, UnicodeEncodeError) as error:
        return {"fault": str(error)}
    return {"found": None if match is None else [match.range().start, match.range().stop]}


def main() -> None:
    """Answer until nobody asks any more."""
    for line in sys.stdin.buffer:
        print(json.dumps(_answer(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
