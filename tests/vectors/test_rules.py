"""Every rule of the document has a vector of this project's own, and every such vector shows a rule."""

import json
from pathlib import Path
from typing import Any

import pytest

from vectors.authoring.layout import write_json
from vectors.rules import FOLDER, Rule, read_rules, rules
from vectors.runner.document import UNTESTED
from vectors.runner.files import OWN, read_vectors

VECTORS: dict[str, dict[str, Any]] = {vector.id: vector.raw for vector in read_vectors(*OWN)}
RULES = rules()
NAMED = {name for rule in RULES for name in rule.among(VECTORS.keys())}

SECTIONS = [
    *(f"3.{number}" for number in (1, 2, 3, 4, 5, 6, 7)),
    *(f"4.{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9)),
    *(f"5.{number}" for number in range(1, 10)),
    *(f"6.{number}" for number in range(1, 9)),
    *(f"7.{number}" for number in (1, 2, 3)),
    *(f"8.{number}" for number in range(1, 11)),
    *(f"9.{number}" for number in (1, 2, 3)),
    *(f"10.{number}" for number in (1, 2, 3)),
    *(f"13.{number}" for number in range(1, 16)),
    *(f"C.{number}" for number in range(1, 9)),
    "E.1",
    *(f"F.{number}" for number in range(1, 8)),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.section}: {rule.rule}")
def test_a_rule_names_vectors_of_its_section(rule: Rule) -> None:
    named = rule.among(VECTORS.keys())  # which each of its names does
    assert [name for name in named if rule.section not in VECTORS[name]["sections"]] == []


def test_a_rule_may_name_all_vectors_of_a_topic_and_none_that_is_not_there() -> None:
    rule = Rule("F.1", "Something holds.", ("fed.some.*", "fed.other.one"), None, None)
    ids = ["fed.some.one", "fed.some.two", "fed.somewhat.one", "fed.other.one", "fed.other.one-more"]
    assert rule.among(ids) == ["fed.some.one", "fed.some.two", "fed.other.one"]
    with pytest.raises(KeyError):
        rule.among(ids[:3])


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_shows_a_rule(name: str) -> None:
    assert name in NAMED


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_has_rules(section: str) -> None:
    assert any(rule.section == section for rule in RULES)


def test_every_pinned_rule_is_there() -> None:
    assert {rule.pinned for rule in RULES if rule.pinned is not None} == set(range(1, 17))


MAY_BE_UNTESTED = {
    *UNTESTED,  # those a report may declare deviations from
    *("3.2", "3.3", "9.1"),  # how principals come by their addresses
    *("10.1", "10.2", "10.3"),  # HTTP, wording and clients
    *("6.2", "6.3", "6.5", "C.8"),  # hooks that fail and work that ends as no world can script it, and races
    *(f"8.{number}" for number in range(1, 11)),  # A2A's own wire, handoffs and peers, which no world has
    *("5.8", "C.5"),  # what another binding exports, and what is documented
}


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.untested], ids=lambda rule: rule.rule)
def test_only_what_no_vector_can_show_has_none(rule: Rule) -> None:
    assert rule.section in MAY_BE_UNTESTED


def test_no_rule_is_said_twice() -> None:
    said = [rule.rule for rule in RULES]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_a_file_of_rules_is_laid_out_as_the_kit_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == write_json(json.loads(text))


def test_a_rule_without_a_vector_says_why(tmp_path: Path) -> None:
    path = tmp_path / "section-3.json"
    path.write_text('[{ "section": "3.1", "rule": "An address has a scheme.", "vectors": [] }]')
    with pytest.raises(ValueError, match="or says why not"):
        read_rules(path)


def test_a_rule_with_both_vectors_and_a_reason_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "section-3.json"
    path.write_text('[{ "section": "3.1", "rule": "A", "vectors": ["env.a.b"], "untested": "because" }]')
    with pytest.raises(ValueError, match="or says why not"):
        read_rules(path)
