"""Which addresses a binding reaches, and bindings that are not there or cannot be loaded (section 8)."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from core.errors import DmpError
from replica.host import binding
from replica.node import DirectoryNode
from tests.replica.host.test_person import message


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Bindings are looked for once in a process."""
    binding.binding.cache_clear()
    yield
    binding.binding.cache_clear()


def entries(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    found = {name.replace("_", "-"): EntryPoint(name, value, binding.GROUP) for name, value in values.items()}
    monkeypatch.setattr(binding, "_found", lambda: found)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("a2a:acme", "peer"),
        ("agent:ada/a2a.acme", "client"),
        ("agent:a2a.acme", None),
        ("agent:ada/a2ax", None),
        ("agent:a2a.ada/acme", None),
        ("human:a2a.acme", None),
        ("channel:a2a.acme", None),
        ("agent:dispatch", None),
    ],
)
def test_an_address_is_external_by_its_form(address: str, found: str | None) -> None:
    assert binding.external(address) == found


def test_the_bindings_of_this_project_are_found() -> None:
    assert {"a2a", "instance-routing", "machine-envelope"} <= binding.bindings().keys()
    assert binding.edge() is binding.binding("a2a")


def test_a_binding_that_cannot_be_loaded_costs_itself_and_a_line_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    entries(
        monkeypatch,
        absent="no_such_package.binding:BINDING",
        other="replica.host.binding:GROUP",
        machine_envelope="bindings.machine_envelope.binding:BINDING",
    )

    assert list(binding.bindings()) == ["machine-envelope"]
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert said[0].startswith("the binding absent cannot be loaded (ModuleNotFoundError")
    assert said[1] == "the binding other cannot be loaded (replica.host.binding:GROUP is no binding)"


def test_without_the_binding_nobody_is_reached_through_it(
    node: DirectoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries(monkeypatch, a2a="bindings.machine_envelope.binding:BINDING")

    with pytest.raises(DmpError) as refused:
        node.host.admit_external("a2a:acme", message("human:ada"), direct=True)
    assert refused.value.code == "not-found"
