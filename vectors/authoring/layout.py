"""How a JSON file of the kit is written: what fits on a line stands on one, and what the eye would miss is escaped."""

import json
import unicodedata
from typing import Any, Final

WIDTH: Final = 110

_UNSEEN: Final = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"))


def write_json(value: Any) -> str:
    """Return a value as a file's text; the order of members is kept."""
    return _write(value, "", 0) + "\n"


def _write(value: Any, indent: str, before: int) -> str:
    """Return a value that starts after `indent` and `before` more characters."""
    line = _on_one_line(value)
    if not isinstance(value, dict | list) or not value or len(indent) + before + len(line) < WIDTH:
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        items = [deeper + _write(item, deeper, 0) for item in value]
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    members = []
    for name, item in value.items():
        key = f"{_text(name)}: "
        members.append(deeper + key + _write(item, deeper, len(key)))
    return "{\n" + ",\n".join(members) + f"\n{indent}}}"


def _on_one_line(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return "[" + ", ".join(_on_one_line(item) for item in value) + "]"
    if isinstance(value, dict) and value:
        return "{ " + ", ".join(f"{_text(name)}: {_on_one_line(item)}" for name, item in value.items()) + " }"
    return json.dumps(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(_SHOWN)


class _Shown(dict[int, str]):
    """Each character as it is written, worked out once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        unseen = character != " " and unicodedata.category(character) in _UNSEEN
        self[code] = json.dumps(character)[1:-1] if unseen else character
        return self[code]


_SHOWN: Final = _Shown()
