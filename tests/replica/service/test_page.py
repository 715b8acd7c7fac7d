"""The page of the service tells of every setting what the code says of it."""

import re
from pathlib import Path

from replica.host.settings import SETTINGS, Setting

PAGE = Path(__file__).parents[3] / "docs" / "service.md"
ROW = re.compile(r"^\| `([a-z0-9_]+\.[a-z0-9_]+)` \| (.*) \|$", re.MULTILINE)


def row(setting: Setting) -> str:
    default = "" if setting.default in (None, "") else f"`{setting.shown_default}`"
    return f"`{setting.flag}` | `{setting.variable}` | {default} | {setting.says}; {setting.must_be}"


def test_every_setting_is_on_the_page_as_the_code_has_it() -> None:
    shown = [(found[1], found[2]) for found in ROW.finditer(PAGE.read_text())]
    assert shown == [(each.name, row(each)) for each in SETTINGS]
