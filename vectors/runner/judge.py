"""Compares an observation with what its vector expects, and with what holds for every vector (12.4.5, 12.4.6)."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from vectors.runner import rendering, symbols
from vectors.runner.federation_shape import MADE
from vectors.runner.hello import Hello
from vectors.runner.matching import differences, same, shown
from vectors.runner.observation import Observation
from vectors.runner.patterns import PatternFault
from vectors.runner.symbols import Names
from vectors.runner.text import is_identifier
from vectors.runner.vector import JsonObject

_NAMING: Final = ("message", "question", "answer")
"""The members of a hook call that name messages."""

_ULID: Final = "[0-9a-hjkmnp-tv-z]{26}"
_DISPATCH_IDS: Final = {"messages": re.compile(f"m-{_ULID}"), "deliveries": re.compile(f"d-{_ULID}")}
"""The ids of the Dispatch profile (section C.1)."""


def judge(vector: JsonObject, hello: Hello, observation: Observation) -> list[str]:
    """Return why a vector, with the runner's own symbols replaced, fails; nothing when it passes."""
    return list(_Case(vector, hello, observation).reasons())


class _Case:
    """One vector and its observation, with the symbols of `then` resolved."""

    def __init__(self, vector: JsonObject, hello: Hello, observation: Observation) -> None:
        self._vector = vector
        self._hello = hello
        self._seen = observation
        store = vector["given"].get("store", {})
        self._seeded = {
            "messages": {row["id"] for row in store.get("messages", ())},
            "deliveries": {row["id"] for row in store.get("deliveries", ())},
        }
        self._names = Names(
            observation.created,
            (
                (message["id"], message["kind"])
                for message in observation.messages
                if self._is_own_systems(message)
            ),
            self._seeded["messages"],
            observation.made,
        )
        self._by_id = {message["id"]: message for message in observation.messages}
        named = {self._names.get(symbol) for symbol in symbols.found(vector)}
        received = {message["id"] for message in observation.messages if _is_received(message)}
        self._foreign = {**self._seeded, "messages": self._seeded["messages"] | received}
        self._named_or_seeded = (
            (named - {None})
            | self._seeded["messages"]
            | received.intersection(symbols.strings(vector["then"]))
        )

    def reasons(self) -> Iterator[str]:
        yield from self._unnamed()
        then: Any = self._names.resolve(self._vector["then"])
        for member, check in _CHECKS.items():
            if member in then:
                yield from check(self, then[member])
        yield from self._ids("messages", self._seen.messages)
        yield from self._ids("deliveries", self._seen.deliveries)
        yield from self._increase()
        yield from self._renderings()

    def _unnamed(self) -> Iterator[str]:
        for symbol in dict.fromkeys(symbols.found(self._vector["then"])):
            if self._names.get(symbol) is None:
                yield f"{symbol} names {'nothing' if symbol.role in MADE else 'no message'}"

    def _is_own_systems(self, message: JsonObject) -> bool:
        """Whether this host's own system address sent a message; another replica's is none here (section F.5)."""
        return message["from"] == self._hello.system_address and not _is_received(message)

    # What `then` may hold

    def _steps(self, expected: list[JsonObject | None]) -> Iterator[str]:
        for index, (outcome, actual) in enumerate(zip(expected, self._seen.steps, strict=False)):
            place = f"steps[{index}]"
            if outcome is None:
                continue
            if outcome["ok"] is not actual["ok"]:
                yield f"{place}: expected {shown(outcome)}, got {shown(actual)}"
            elif not outcome["ok"]:
                yield from differences(outcome["error"], actual["error"], f"{place}.error")
            elif "result" in outcome:
                yield from differences(outcome["result"], actual.get("result"), f"{place}.result")

    def _messages(self, expected: list[JsonObject]) -> Iterator[str]:
        places = []
        for index, fields in enumerate(expected):
            found = [at for at, each in enumerate(self._seen.messages) if each["id"] == fields["id"]]
            if len(found) != 1:
                yield f"messages[{index}]: {fields['id']} is stored {_times(len(found))}"
                continue
            places.append(found[0])
            yield from differences(fields, self._seen.messages[found[0]], f"messages[{index}]")
        if places != sorted(places):
            yield "messages: they were not created in this order"

    def _no_other_messages(self, wanted: bool) -> Iterator[str]:
        for message in self._seen.messages if wanted else ():
            is_notice = self._is_own_systems(message) and message["kind"] == "notice"
            if not is_notice and message["id"] not in self._named_or_seeded:
                about = {name: message[name] for name in ("id", "from", "to", "kind")}
                yield f"noOtherMessages: there is another message, {shown(about)}"

    def _deliveries(self, expected: list[JsonObject]) -> Iterator[str]:
        yield from self._rows("deliveries", "delivery", expected, self._seen.deliveries)

    def _rows(
        self, several: str, one: str, expected: list[JsonObject], seen: Sequence[JsonObject]
    ) -> Iterator[str]:
        """Compare the rows of each message that is mentioned: one for each recipient, and no others."""
        for message in dict.fromkeys(row["message"] for row in expected):
            rows = {row["recipient"]: row for row in expected if row["message"] == message}
            actual = [each for each in seen if each["message"] == message]
            counted = Counter(each["recipient"] for each in actual)
            if counted != Counter(rows.keys()):
                yield (
                    f"{several} of {message}: expected one each to {shown(sorted(rows))}, "
                    f"got {shown(sorted(counted.elements()))}"
                )
            for each in actual:
                if each["recipient"] in rows:
                    place = f"{one} of {message} to {each['recipient']}"
                    yield from differences(rows[each["recipient"]], each, place)

    def _no_deliveries(self, expected: list[str]) -> Iterator[str]:
        for each in self._seen.deliveries:
            if each["message"] in expected:
                yield f"noDeliveries: {each['message']} has one to {each['recipient']}"

    def _remote(self, expected: list[JsonObject]) -> Iterator[str]:
        yield from self._rows("remote", "remote row", expected, self._seen.remote)

    def _no_remote(self, expected: list[str]) -> Iterator[str]:
        for each in self._seen.remote:
            if each["message"] in expected:
                yield f"noRemote: {each['message']} has one for {each['recipient']}"

    def _named_calls(self) -> list[JsonObject]:
        """Return the hook calls that name a named or seeded message."""
        return [
            each
            for each in self._seen.calls
            if any(each.get(member) in self._named_or_seeded for member in _NAMING)
        ]

    def _calls(self, expected: list[JsonObject]) -> Iterator[str]:
        actual = self._named_calls()
        for index in range(max(len(expected), len(actual))):
            wanted, got = (calls[index] if index < len(calls) else None for calls in (expected, actual))
            if not same(wanted, got):
                yield f"calls[{index}]: expected {shown(wanted)}, got {shown(got)}"
                return  # what follows a missing or an extra call tells nothing new

    def _calls_include(self, expected: list[JsonObject]) -> Iterator[str]:
        actual = iter(self._named_calls())
        for index, wanted in enumerate(expected):
            if not any(same(wanted, each) for each in actual):
                yield f"callsInclude[{index}]: {shown(wanted)} was not called, or not in this order"
                return

    def _gate_effects(self, expected: list[str]) -> Iterator[str]:
        yield from _set_difference("gateEffects", expected, self._seen.gate_effects)

    def _voided(self, expected: list[str]) -> Iterator[str]:
        yield from _set_difference("voided", expected, self._seen.voided)

    def _channels(self, expected: list[JsonObject]) -> Iterator[str]:
        names = [each["name"] for each in self._seen.channels]
        yield from _set_difference("channels", [each["name"] for each in expected], names)
        for name, times in Counter(names).items():
            if times > 1:
                yield f"channels: {name} is listed {_times(times)}"
        members = {each["name"]: each["members"] for each in expected}
        for each in self._seen.channels:
            if each["name"] in members:
                place = f"channels: members of {each['name']}"
                yield from _set_difference(place, members[each["name"]], each["members"])

    def _render(self, expected: list[JsonObject]) -> Iterator[str]:
        for row in expected:
            text = self._seen.rendered.get(row["step"])
            if text != row["text"]:
                yield f"render of step {row['step']}: expected {shown(row['text'])}, got {shown(text)}"

    # What is always checked

    def _ids(self, name: str, rows: Any) -> Iterator[str]:
        is_dispatch = self._vector["profile"] == "dispatch"
        for given, times in Counter(row["id"] for row in rows).items():
            if times > 1:
                yield f"{name}: the id {shown(given)} is there {_times(times)}"
            if not is_identifier(given):
                yield f"{name}: {shown(given)} is not an identifier of at most 64 bytes"
            elif (
                is_dispatch and given not in self._foreign[name] and not _DISPATCH_IDS[name].fullmatch(given)
            ):
                yield f"{name}: {shown(given)} is not an id of the Dispatch profile (section C.1)"

    def _increase(self) -> Iterator[str]:
        generated = [
            each["id"] for each in self._seen.messages if each["id"] not in self._foreign["messages"]
        ]
        for earlier, later in pairwise(generated):
            if later.encode("utf-8", "surrogatepass") < earlier.encode("utf-8", "surrogatepass"):
                yield f"messages: {shown(later)} was created after {shown(earlier)} and sorts before it"

    def _renderings(self) -> Iterator[str]:
        for number, text in self._seen.rendered.items():
            step: Any = self._names.resolve(self._vector["when"][number - 1])
            message = self._by_id.get(step["message"])
            if message is None:
                yield f"render of step {number}: {step['message']} is not stored"
                continue
            if step.get("form", "push") == "digest":
                faults = rendering.digest_faults(text, message, self._hello.forms)
            else:
                faults = rendering.push_faults(
                    text,
                    message,
                    self._hello.forms,
                    replied_to=self._by_id.get(message["replyTo"]),
                    external=step.get("external", False),
                )
            place = f"render of step {number}"
            try:
                for each in faults:
                    yield f"{place}: {each}"
            except PatternFault as fault:
                yield f"{place}: the pattern {shown(fault.pattern)} {fault}"


_CHECKS: Final[dict[str, Callable[[_Case, Any], Iterator[str]]]] = {
    "steps": _Case._steps,
    "messages": _Case._messages,
    "noOtherMessages": _Case._no_other_messages,
    "deliveries": _Case._deliveries,
    "noDeliveries": _Case._no_deliveries,
    "remote": _Case._remote,
    "noRemote": _Case._no_remote,
    "calls": _Case._calls,
    "callsInclude": _Case._calls_include,
    "gateEffects": _Case._gate_effects,
    "voided": _Case._voided,
    "channels": _Case._channels,
    "render": _Case._render,
}


def _is_received(message: JsonObject) -> bool:
    """Whether a message came from another replica (section F.4); its id is its origin's."""
    return message.get("origin") is not None


def _set_difference(place: str, expected: list[str], actual: Any) -> Iterator[str]:
    if set(expected) != set(actual):
        yield f"{place}: expected {shown([*sorted(set(expected))])}, got {shown([*sorted(set(actual))])}"


def _times(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")
