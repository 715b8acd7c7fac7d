"""The rules of the document, one sentence each, and the vectors of this project that show them.

`rule_table/section-<n>.json` holds the rules of one section as a list. A rule that no vector can show says
why instead (section 12.5). Each vector lists the section of every rule that names it among its own
`sections`, so the table and the vectors say the same.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "rule_table"

ALL_OF_TOPIC: Final = ".*"
"""What the name of all vectors of a topic ends with."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    `vectors` are ids of this project's vectors, or all of a topic, as `fed.contest2.*`; where there are none,
    `untested` says why. `pinned` is the number of the pinned rule (section 1.4) it belongs to, if to any.
    """

    section: str
    rule: str
    vectors: tuple[str, ...]
    untested: str | None
    pinned: int | None

    def among(self, ids: Collection[str]) -> list[str]:
        """Return those of some ids that it names. Raises KeyError for a name of none of them."""
        found = []
        for name in self.vectors:
            of_topic = name.removesuffix("*") if name.endswith(ALL_OF_TOPIC) else None
            named = [each for each in ids if each == name or (of_topic and each.startswith(of_topic))]
            if not named:
                raise KeyError(name)
            found += named
        return found


def rules() -> list[Rule]:
    """Return the whole table, section by section."""
    return [rule for path in sorted(FOLDER.glob("section-*.json")) for rule in read_rules(path)]


def read_rules(path: Path) -> list[Rule]:
    """Read the rules of one section. Raises KeyError or ValueError where a member is missing or unknown."""
    found = []
    for raw in json.loads(path.read_text(encoding="utf-8")):
        unknown = set(raw) - {"section", "rule", "vectors", "untested", "pinned"}
        if unknown:
            raise ValueError(f"{path.name} has a rule with {', '.join(sorted(unknown))}")
        vectors = tuple(raw.get("vectors", ()))
        if bool(vectors) == ("untested" in raw):
            raise ValueError(f"{path.name}: a rule has vectors or says why not: {raw['rule']}")
        found.append(Rule(raw["section"], raw["rule"], vectors, raw.get("untested"), raw.get("pinned")))
    return found
