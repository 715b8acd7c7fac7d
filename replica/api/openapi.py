"""The OpenAPI 3.1 document, made from the table of routes."""

import re
from collections.abc import Iterable
from typing import Any, Final

from replica.api.schemas import SCHEMAS, ref
from replica.api.table import Param, Route, Who

_ERROR: Final = {"application/json": {"schema": ref("Error")}}
_IN_PATH: Final = {
    "id": "Its id.",
    "name": "The channel's bare name, its slashes escaped: `epic%2Fe-c25f9c`.",
    "addr": "An address, its slashes escaped: `agent:ada%2Fclaude`.",
    "replica": "The id of a replica.",
    "seq": "The number of an op in its log.",
}
_NUMBERS: Final = ("seq",)

_REFUSED: Final = {
    Who.ANYONE: {},
    Who.PRINCIPAL: {
        403: "The token is nobody's, or its agent waits to be approved, or its person may not use this machine."
    },
    Who.PERSON: {403: "Not a person."},
    Who.DECIDING: {403: "Not a human who decides."},
    Who.REQUEST: {403: "A session's or an agent's token, which has no tier."},
    Who.DECIDE: {403: "Below the tier decide."},
    Who.OPERATOR: {403: "Not the person who runs this machine."},
}

_TAGS: Final = {
    "messages": "Messages, threads and mailboxes",
    "decisions": "What waits for a human",
    "channels": "Channels",
    "agents": "Agents",
    "events": "Events",
    "host": "This host",
    "node": "What a page shows of this replica and its team",
}


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """The document of these routes."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "The host API of a DMP replica",
            "version": "1.0.0-draft.1",
            "description": "Messages between people and agents (Dispatch Messaging Protocol, Appendix A). A refusal is "
            "`{ error, code, field? }` with the HTTP status of its code. docs/api.md shows how it is used.",
        },
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": dict(SCHEMAS),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token that `dmp token add` made. A browser that signed in sends its cookie.",
                }
            },
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, said in route.answers.items():
        responses[str(status)] = {"description": said.text}
        if said.schema is not None:
            responses[str(status)]["content"] = {"application/json": {"schema": said.schema}}
    for status, text in sorted(_refusals(route).items()):
        responses[str(status)] = {"description": text, "content": _ERROR}
    operation: dict[str, Any] = {
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.summary,
        "responses": responses,
    }
    if route.text:
        operation["description"] = route.text
    parameters = [*map(_in_path, re.findall(r"{(\w+)}", route.path)), *map(_in_query, route.query)]
    if route.keyed:
        parameters.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "description": "Names this send: however often it is repeated, it is done once.",
                "schema": {"type": "string", "maxLength": 200},
            }
        )
    if parameters:
        operation["parameters"] = parameters
    if route.takes is not None:
        content = {"application/json": {"schema": route.takes}}
        operation["requestBody"] = {"required": route.needs_body, "content": content}
    if route.who is not Who.ANYONE:
        operation["security"] = [{"token": []}]
    return operation


def _refusals(route: Route) -> dict[int, str]:
    found: dict[int, str] = {}
    if route.who is not Who.ANYONE or route.takes is not None:
        found[400] = "Something that was given breaks a rule; `field` names it."
    if route.takes is not None:
        found |= {413: "The body is too long.", 415: "The body is not JSON."}
    if route.who is not Who.ANYONE:
        found[401] = "No token, or one that is good no more."
    found |= {403: "The request is meant for another host, or a page of another origin makes it."}
    found |= _REFUSED[route.who]
    found[503] = "This host is busy, or its store cannot be used."
    found |= route.refuses
    return {status: text for status, text in found.items() if status not in route.answers}


def _in_path(name: str) -> dict[str, Any]:
    schema = {"type": "integer", "minimum": 1} if name in _NUMBERS else {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "description": _IN_PATH[name], "schema": schema}


def _in_query(param: Param) -> dict[str, Any]:
    return {
        "name": param.name,
        "in": "query",
        "required": False,
        "description": param.text,
        "schema": param.schema,
    }
