"""An adapter's declaration is read, or refused with the place of its fault (section 12.4.7)."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.vectors.runner.samples import HELLO, hello
from vectors.runner.hello import Forms, read_hello
from vectors.runner.shape import ShapeError


def test_a_proper_hello_is_read() -> None:
    read = hello(capabilities=[], profiles=["core"], extra="ignored")
    assert (read.name, read.version, read.system_address) == ("sample", "3.1", "agent:host")
    assert read.classes == {"envelope", "host-core", "a2a-binding", "federation"}
    assert (read.profiles, read.capabilities) == (frozenset(["core"]), frozenset())
    assert read.forms == Forms(
        "> ", "^From ", ("^re: ", "^choices: ", "^refs: ", "^waiting$"), "^\\S+ says: "
    )


@pytest.mark.parametrize("address", ["agent:dispatch", "agent:wyat/host.one", f"agent:{'a' * 64}"])
def test_a_system_address_is_an_agents(address: str) -> None:
    assert hello(systemAddress=address).system_address == address


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another line": (lambda it: it.update(dmp="hallo"), "dmp is not one of hello"),
    "no name": (lambda it: it["implementation"].pop("name"), "implementation has no name"),
    "a blank version": (lambda it: it["implementation"].update(version=" "), "implementation.version"),
    "no class": (lambda it: it.update(classes=[]), "classes is empty"),
    "an unknown class": (lambda it: it.update(classes=["core"]), "classes[0] is not one of"),
    "no profile": (lambda it: it.update(profiles=[]), "profiles is empty"),
    "an unknown profile": (lambda it: it.update(profiles=["full"]), "profiles[0] is not one of"),
    "an unknown capability": (lambda it: it.update(capabilities=["fly"]), "capabilities[0] is not one of"),
    "capabilities in words": (
        lambda it: it.update(capabilities="muted-senders"),
        "capabilities is not a list",
    ),
    "a human's address": (lambda it: it.update(systemAddress="human:host"), "systemAddress is not an agent"),
    "an address of capitals": (lambda it: it.update(systemAddress="agent:Host"), "systemAddress is not an"),
    "an address of three parts": (
        lambda it: it.update(systemAddress="agent:a/b/c"),
        "systemAddress is not an",
    ),
    "a long address": (lambda it: it.update(systemAddress=f"agent:{'a' * 65}"), "systemAddress is not an"),
    "no wake": (lambda it: it.update(gateTypes=["scope"]), "gateTypes does not include wake"),
    "a gate type that is none": (lambda it: it.update(gateTypes=["wake", ""]), "gateTypes[1] is not a gate"),
    "no forms": (lambda it: it.pop("render"), "the document has no render"),
    "an empty prefix": (lambda it: it["render"].update(quotePrefix=""), "render.quotePrefix"),
    "a prefix of two lines": (lambda it: it["render"].update(quotePrefix=">\n"), "render.quotePrefix"),
    "a header that is no pattern": (
        lambda it: it["render"].update(header="("),
        "render.header is not an ECMA",
    ),
    "a header that ends whoever reads it": (
        lambda it: it["render"].update(header="a|" * 1_000_000),
        "render.header ends the search",
    ),
    "host lines in one": (lambda it: it["render"].update(hostLines="^re"), "render.hostLines is not a list"),
    "a host line that is no pattern": (lambda it: it["render"].update(hostLines=["a", "["]), "hostLines[1]"),
    "no digest lead": (lambda it: it["render"].pop("digestLead"), "render has no digestLead"),
    "a pattern of Python's": (lambda it: it["render"].update(digestLead="(?P<a>x)"), "render.digestLead"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_malformed_hello_is_refused_with_its_place(fault: str) -> None:
    damage, told = FAULTS[fault]
    line = copy.deepcopy(HELLO)
    damage(line)
    with pytest.raises(ShapeError) as refused:
        read_hello(line)
    assert told in str(refused.value)


@pytest.mark.parametrize("line", [None, [], "hello", 1])
def test_a_line_that_is_no_object_is_no_hello(line: Any) -> None:
    with pytest.raises(ShapeError, match="is not an object"):
        read_hello(line)
