"""The OpenAPI document: it says what there is, agrees with the protocol's own schemas, and the host keeps to it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from replica.api.openapi import document
from replica.api.routes import ROUTES
from replica.api.schemas import SCHEMAS
from replica.api.table import Route, Who
from tests.replica.api.host import Host, User, served

ROOT: Final = Path(__file__).parents[3]
DOCUMENT: Final = document(ROUTES)
SCHEMA: Final = schemathesis.openapi.from_dict(DOCUMENT)

ELSEWHERE: Final = ("events", "openPage")
"""A socket, and a link that leads to the page: schemathesis speaks neither."""

SPOKEN: Final = [route for route in ROUTES if route.name not in ELSEWHERE]

FEW: Final = settings(
    max_examples=5,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)

CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with served(tmp_path_factory.mktemp("openapi")) as made:
        yield made


@pytest.fixture(scope="module")
def ada(host: Host) -> User:
    return host.user()


@pytest.fixture(scope="module")
def known(host: Host, ada: User) -> dict[str, Any]:
    """What there is, to stand in paths."""
    host.agent("bot")
    sent = ada.post(
        "/api/messages",
        {"to": ["human:ada", "human:bob"], "kind": "question", "body": "?", "choices": ["a", "b"]},
    )
    ada.post("/api/channels/guild/members")
    return {
        "/api/messages": sent.json["message"]["id"],
        "/api/threads": sent.json["message"]["id"],
        "/api/deliveries": sent.json["deliveries"][0]["id"],
        "/api/channels": "guild",
        "/api/agents": "agent:ada/bot",
    }


def test_the_document_is_served_as_it_is_made(host: Host) -> None:
    assert host.stranger.get("/openapi.json").json == json.loads(json.dumps(DOCUMENT))


def test_the_document_is_valid() -> None:
    SCHEMA.validate()
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)


def test_every_route_is_in_it_once_and_says_who_may_use_it() -> None:
    assert len({route.name for route in ROUTES}) == len(ROUTES)
    for route in ROUTES:
        operation = DOCUMENT["paths"][route.path][route.method.lower()]
        assert ("security" in operation) is (route.who is not Who.ANYONE)
        assert {"403", "503"} <= operation["responses"].keys()
        named = {each["name"] for each in operation.get("parameters", []) if each["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", route.path))


@pytest.mark.parametrize(
    ("name", "file"),
    [("Message", "message"), ("SendInput", "send-input"), ("Ref", "ref"), ("Delivery", "delivery")],
)
def test_a_schema_says_of_the_protocols_fields_what_the_protocols_own_says(name: str, file: str) -> None:
    """Appendix D: this host adds members to what it gives, and takes nothing away."""
    theirs = json.loads((ROOT / "vectors" / "schemas" / f"{file}.schema.json").read_text())
    ours = SCHEMAS[name]
    assert set(theirs["required"]) <= set(ours["required"])
    for member, schema in theirs["properties"].items():
        assert _resolved(_plain(ours["properties"][member])) == _resolved(_plain(schema)), member


def _plain(schema: Any) -> Any:
    """A schema without what only people read."""
    if schema is True:
        return {}
    return {name: value for name, value in schema.items() if name != "description"}


def _resolved(schema: Any) -> Any:
    """A schema with each reference followed, whichever document it is in."""
    if isinstance(schema, list):
        return [_resolved(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    named = schema.get("$ref")
    if named is None:
        return {
            name: _resolved(value)
            for name, value in schema.items()
            if name not in ("title", "$schema", "$id")
        }
    last = named.rpartition("/")[2]
    if named.startswith("#/components"):
        return _resolved(SCHEMAS[last])
    message = json.loads((ROOT / "vectors" / "schemas" / "message.schema.json").read_text())
    if last.endswith(".schema.json"):
        whole = json.loads((ROOT / "vectors" / "schemas" / last).read_text())
        return _resolved(whole)
    return _resolved(message["$defs"][last])


@pytest.mark.parametrize("route", SPOKEN, ids=lambda route: route.name)
def test_the_host_answers_as_its_document_says(
    host: Host, ada: User, known: dict[str, Any], route: Route
) -> None:
    operation = SCHEMA[route.path][route.method]
    first = known.get("/".join(route.path.split("/")[:3]))
    names = re.findall(r"{(\w+)}", route.path)
    strategy = operation.as_strategy()
    if first is not None and names:  # half of them of what is there
        strategy = st.one_of(strategy, operation.as_strategy(path_parameters={names[0]: first}))

    @FEW
    @given(strategy)
    def ask(case: schemathesis.Case[Any]) -> None:
        if route.name == "revokeAgent":
            case.path_parameters["addr"] = "agent:ada/other"
        case.call_and_validate(
            base_url=f"http://127.0.0.1:{host.port}",
            headers={"Authorization": f"Bearer {ada.token}"},
            checks=CHECKS,
        )

    ask()


@pytest.mark.parametrize(
    "route", [each for each in SPOKEN if each.takes is not None or each.query], ids=lambda route: route.name
)
def test_the_host_refuses_what_its_document_does_not_allow(host: Host, ada: User, route: Route) -> None:
    operation = SCHEMA[route.path][route.method]

    @FEW
    @given(operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE))
    def ask(case: schemathesis.Case[Any]) -> None:
        response = case.call(
            base_url=f"http://127.0.0.1:{host.port}", headers={"Authorization": f"Bearer {ada.token}"}
        )
        if not (
            route.keyed and response.status_code == 200
        ):  # a key's first send, whatever comes with it (4.9)
            case.validate_response(response, checks=[*CHECKS, negative_data_rejection])

    ask()


@pytest.mark.parametrize(
    "route", [each for each in ROUTES if each.who is not Who.ANYONE], ids=lambda route: route.name
)
def test_no_route_but_those_for_anyone_answers_without_a_token(host: Host, route: Route) -> None:
    path = re.sub(r"{\w+}", "x", route.path)
    for headers in ({}, {"Authorization": "Bearer no"}):
        got = host.stranger.ask(route.method, path, {} if route.takes else None, headers)
        assert (got.status, got.header("WWW-Authenticate")) == (401, "Bearer")
        assert set(got.json) == {"error", "code"}
