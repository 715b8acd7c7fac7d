"""Vector files are read whole, or refused with the place of their fault (section 12.4.1)."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.vectors.runner.samples import send, vector, write_kit
from vectors.runner.files import OWN, BadFile, read_vectors

CLOSE = {"op": "close", "question": "$s1", "reason": "done"}
RENDER = {"op": "render", "message": "$s1"}


def changed(**members: Any) -> dict[str, Any]:
    return vector(**members)


def without(member: str) -> dict[str, Any]:
    raw = vector()
    del raw[member]
    return raw


MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "no title": (without("title"), "has no title"),
    "no then": (without("then"), "has no then"),
    "an unknown member": (changed(note="x"), "unknown member 'note'"),
    "a blank title": (changed(title=" "), ".title is not a line"),
    "a title of two lines": (changed(title="a\u2028b"), ".title is not a line"),
    "an id of two parts": (changed(id="core.sample"), ".id is not a vector id"),
    "an id in capitals": (changed(id="core.sample.A"), ".id is not a vector id"),
    "another class's prefix": (vector() | {"id": "env.sample.x"}, "does not start with core."),
    "an unknown level": (changed(level="must"), ".level is not one of MUST, SHOULD, MAY"),
    "an unknown profile": (changed(profile="Core"), ".profile is not one of"),
    "no section": (changed(sections=[]), ".sections is empty"),
    "a section that is not there": (changed(sections=["6.9"]), ".sections[0] is not a numbered section"),
    "a section that is no text": (changed(sections=[["6.1"]]), ".sections[0] is not a numbered section"),
    "a step's number of any length": (
        changed(then={"noDeliveries": [f"$s{'9' * 5000}"]}),
        "names no earlier step",
    ),
    "a MAY vector without capability": (changed(level="MAY"), "capability"),
    "a MUST vector with capability": (changed(capability="muted-senders"), "capability"),
    "an unknown capability": (changed(level="MAY", capability="flying"), ".capability is not one of"),
    "tags that are no list": (changed(tags="structural"), ".tags is not a list"),
    "an unknown member of given": (changed(given={"time": 1}), "given has an unknown member 'time'"),
    "a clock that is no timestamp": (changed(given={"clock": "2026-09-23"}), ".clock is not a timestamp"),
    "an unknown ruling": (
        changed(given={"rulings": {"task:t-1": "maybe"}}),
        "is not one of allow, ask, deny",
    ),
    "a wake that failed without reason": (
        changed(given={"wakeResults": {"task:t-1": {"ok": False}}}),
        "has no reason",
    ),
    "a seeded row of no field": (
        changed(given={"store": {"messages": [{"id": "m-1", "bodi": "x"}]}}),
        "unknown member 'bodi'",
    ),
    "no step": (changed(when=[], then={}), ".when is empty"),
    "an unknown step": (changed(when=[{"op": "fly"}], then={}), ".op is not one of"),
    "a step without a member": (changed(when=[{"op": "send", "input": {}}], then={}), "has no as"),
    "a step with a member of another": (changed(when=[{"op": "recover", "now": True}], then={}), "'now'"),
    "two changes in one": (
        changed(when=[{"op": "world", "change": {"advanceMs": 1, "failOnAnswered": True}}], then={}),
        "is not exactly one change",
    ),
    "no change": (changed(when=[{"op": "world", "change": {}}], then={}), "is not exactly one change"),
    "an unknown expectation": (changed(then={"message": []}), "then has an unknown member 'message'"),
    "more outcomes than steps": (changed(then={"steps": [None, None]}), "more outcomes than there are steps"),
    "a refusal without error": (changed(then={"steps": [{"ok": False}]}), "has no error"),
    "a refusal with a result": (
        changed(then={"steps": [{"ok": False, "error": {"code": "invalid"}, "result": {}}]}),
        "unknown member 'result'",
    ),
    "an unknown hook": (changed(then={"calls": [{"hook": "shout"}]}), ".hook is not one of"),
    "a call without its member": (
        changed(then={"calls": [{"hook": "push", "message": "$s1"}]}),
        "has no session",
    ),
    "a render row of another step": (changed(then={"render": [{"step": 1, "text": "x"}]}), "no render step"),
    "a render row past the end": (changed(then={"render": [{"step": 2, "text": "x"}]}), "no render step"),
    "a symbol before its step": (changed(when=[RENDER, send()], then={}), "has $s1, which names no earlier"),
    "a symbol of the step itself": (changed(when=[CLOSE], then={}), "has $s1, which names no earlier"),
    "a symbol of a step that creates nothing": (
        changed(when=[{"op": "recover"}], then={"noDeliveries": ["$s1"]}),
        "has $s1, which names no earlier",
    ),
    "a symbol of no step": (changed(then={"voided": ["$s2"]}), "has $s2, which names no earlier"),
    "a symbol in the world": (changed(given={"owner": "$s1"}), "given has $s1"),
}


@pytest.mark.parametrize("fault", MALFORMED)
def test_a_malformed_vector_is_refused_with_its_place(fault: str, tmp_path: Path) -> None:
    raw, told = MALFORMED[fault]
    kit = write_kit(tmp_path, [vector("core.sample.sound"), raw])
    with pytest.raises(BadFile) as refused:
        read_vectors(kit)
    assert told in str(refused.value)
    assert f"{kit / 'host-core' / 'sample.json'}: vectors[1]" in str(refused.value)


def damaged(change: Callable[[dict[str, Any]], None], folder: Path) -> Path:
    kit = write_kit(folder, [vector()])
    path = kit / "host-core" / "sample.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return kit


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda it: it.pop("kit"), "has no kit"),
        (lambda it: it.update(kit="latest"), "kit is not a version"),
        (lambda it: it.update({"class": "envelope"}), "class is envelope, and the file is host-core/sample"),
        (lambda it: it.update(area="other"), "area is other, and the file is host-core/sample"),
        (lambda it: it.update(area="Sample"), "area is not an area"),
        (lambda it: it.update(vectors={}), "vectors is not a list"),
        (lambda it: it.update(comment="x"), "unknown member 'comment'"),
        (lambda it: it["vectors"][0].update({"class": "envelope", "id": "env.a.b"}), "is not its file's"),
        (lambda it: it["vectors"].append(it["vectors"][0]), "is used already in host-core/sample.json"),
        (lambda it: it["vectors"].append("core.a.b"), "vectors[1] is not an object"),
    ],
)
def test_a_malformed_file_is_refused(
    change: Callable[[dict[str, Any]], None], told: str, tmp_path: Path
) -> None:
    with pytest.raises(BadFile, match=r"sample\.json") as refused:
        read_vectors(damaged(change, tmp_path))
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"{", "not JSON"),
        (b"\xff{}", "is not UTF-8"),
        (b'{"kit": 1, "kit": 2}', "same member twice"),
        (b"[NaN]", "not JSON"),
        (b"[]", "is not an object"),
    ],
)
def test_a_file_that_is_no_json_object_is_refused(raw: bytes, told: str, tmp_path: Path) -> None:
    write_kit(tmp_path, [vector()])
    (tmp_path / "host-core" / "sample.json").write_bytes(raw)
    with pytest.raises(BadFile) as refused:
        read_vectors(tmp_path)
    assert told in str(refused.value)


def test_one_id_in_two_files_is_refused(tmp_path: Path) -> None:
    write_kit(tmp_path, [vector()])
    document = json.loads((tmp_path / "host-core" / "sample.json").read_text())
    document["area"] = "twin"
    (tmp_path / "host-core" / "twin.json").write_text(json.dumps(document))
    with pytest.raises(
        BadFile, match=r"twin\.json: the id core\.sample\.\S+ is used already in host-core/sample"
    ):
        read_vectors(tmp_path)


def test_a_retired_id_is_never_used_again(tmp_path: Path) -> None:
    write_kit(tmp_path, [vector()])
    retired = {"retired": [{"id": vector()["id"], "reason": "the rule went"}]}
    (tmp_path / "retired.json").write_text(json.dumps(retired))
    with pytest.raises(BadFile, match="is retired, and never used again"):
        read_vectors(tmp_path)


@pytest.mark.parametrize("raw", ['{"retired": [{"id": "core.a.b"}]}', '{"gone": []}', "[]"])
def test_a_malformed_list_of_retired_ids_is_refused(raw: str, tmp_path: Path) -> None:
    (tmp_path / "retired.json").write_text(raw)
    with pytest.raises(BadFile, match=r"retired\.json"):
        read_vectors(tmp_path)


def test_a_directory_that_is_no_class_is_refused_rather_than_left_out(tmp_path: Path) -> None:
    write_kit(tmp_path / "vectors", [vector()])
    with pytest.raises(BadFile, match="is no class of vectors"):
        read_vectors(tmp_path)


def test_a_directory_inside_a_class_is_refused_rather_than_left_out(tmp_path: Path) -> None:
    write_kit(tmp_path, [vector()])
    (tmp_path / "host-core" / "more").mkdir()
    with pytest.raises(BadFile, match="is a directory inside a class"):
        read_vectors(tmp_path)


@pytest.mark.parametrize("name", ["host-core/pipe.json", "retired.json"])
def test_a_pipe_among_the_files_is_refused_rather_than_waited_for(name: str, tmp_path: Path) -> None:
    kit = write_kit(tmp_path, [vector()])
    os.mkfifo(kit / name)
    with pytest.raises(BadFile, match="is a pipe or a device"):
        read_vectors(kit)


@pytest.mark.parametrize("target", ["nowhere", "retired.json"])
def test_retired_ids_that_cannot_be_read_are_not_taken_for_none(target: str, tmp_path: Path) -> None:
    kit = write_kit(tmp_path, [vector()])
    (kit / "retired.json").symlink_to(target)
    with pytest.raises(BadFile, match=r"retired\.json: cannot be read"):
        read_vectors(kit)


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot be read"):
        read_vectors(tmp_path / "kit")


def test_vectors_come_class_by_class_and_nothing_else_is_read(tmp_path: Path) -> None:
    ids = ["core.sample.a", "env.sample.b", "a2a.sample.c", "core.sample.d"]
    write_kit(tmp_path, [vector(id) for id in ids])
    (tmp_path / "registries.json").write_text("{}")
    (tmp_path / "README.md").write_text("# A kit")
    (tmp_path / "envelope" / "notes.txt").write_text("x")
    (tmp_path / ".git").mkdir()
    found = [each.id for each in read_vectors(tmp_path)]
    assert found == ["env.sample.b", "core.sample.a", "core.sample.d", "a2a.sample.c"]


def test_a_directory_named_like_a_class_is_that_class(tmp_path: Path) -> None:
    write_kit(tmp_path, [vector("core.sample.a"), vector("env.sample.b")])
    (tmp_path / "envelope" / "retired.json").write_text('{"retired": []}')
    assert [each.id for each in read_vectors(tmp_path / "envelope")] == ["env.sample.b"]
    both = read_vectors(tmp_path / "host-core", tmp_path / "envelope")
    assert [each.id for each in both] == ["core.sample.a", "env.sample.b"]
    with pytest.raises(BadFile, match="is used already"):
        read_vectors(tmp_path / "envelope", tmp_path / "envelope")


def test_this_projects_own_vectors_are_well_formed() -> None:
    classes = {each.vector_class for each in read_vectors(*OWN)}
    assert classes == {"envelope", "host-core", "a2a-binding", "federation"}


def test_the_public_vectors_are_well_formed(public_vectors: Path) -> None:
    assert len(read_vectors(public_vectors / "kit" / "vectors")) > 200
