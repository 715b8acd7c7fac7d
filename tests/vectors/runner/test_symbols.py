"""The names of messages, of the system address and of a gate type (section 12.4.4)."""

from crypto.canonical import JsonValue
from vectors.runner.symbols import SYSTEM, UNIMPLEMENTED, Names, found, holds, put


def test_the_runners_own_symbols_are_replaced_everywhere() -> None:
    value: JsonValue = {"to": ["$system", "x"], "$system": "from $system", "n": 1, "s": "$s1"}
    assert put(value, {SYSTEM: "agent:host"}) == {
        "to": ["agent:host", "x"],
        "agent:host": "from agent:host",
        "n": 1,
        "s": "$s1",
    }


def test_a_gate_type_is_put_where_it_is_known() -> None:
    value: JsonValue = {"type": UNIMPLEMENTED}
    assert holds(value, UNIMPLEMENTED)
    assert put(value, {UNIMPLEMENTED: "doc"}) == {"type": "doc"}
    assert put(value, {SYSTEM: "agent:host"}) == value


def test_symbols_are_found_inside_strings_and_read_whole() -> None:
    assert [
        str(each) for each in found({"a": ["x$s12y", {"$gate1": "$notice2 $s1"}], "b": "$system $sx"})
    ] == [
        "$s12",
        "$gate1",
        "$notice2",
        "$s1",
    ]


def test_a_step_of_two_digits_is_not_one_of_one() -> None:
    names = Names({1: "m-a", 12: "m-b"}, [], ())
    assert names.resolve("$s12 $s1 $s2") == "m-b m-a $s2"


def test_a_number_of_any_length_names_nothing() -> None:
    symbol = f"$notice{'9' * 5000}"
    assert Names({}, [("m-a", "notice")], ()).resolve(symbol) == symbol
    assert [each.role for each in found(symbol)] == ["notice"]


def test_a_number_may_have_zeros_in_front() -> None:
    assert Names({1: "m-a"}, [], ()).resolve(f"$s{'0' * 5000}1") == "m-a"
