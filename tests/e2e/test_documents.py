"""Documents between two people's machines: real processes, and a real repository."""

import json
from pathlib import Path

from tests.e2e.people import Person, Town
from tests.e2e.test_json import Run, run
from tests.e2e.test_shared import sync

__all__ = ["run"]  # a fixture

TEXT = "# How we prune\n\nStart in March.\n\nUse the small saw.\n\nClean it.\n"
DOCUMENT = {"id", "slug", "title", "status", "aliases", "links", "heads", "held", "waiting", "removed"}
REVISION = {
    *("id", "parents", "title", "author", "approvedBy", "replica", "cause", "summary", "createdAt", "task"),
    *("hash", "size", "standing", "published"),
}
PUT = {"document", "revision", "changed", "gate"}


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def change(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


def test_two_people_write_one_document_at_once_and_one_joins_it(
    tmp_path: Path, orchard: Town, ada: Person, bob: Person
) -> None:
    mine = write(tmp_path, "pruning.md", TEXT)
    assert "Made pruning" in ada.dmp("doc", "put", mine)
    sync(ada, bob)
    theirs = str(tmp_path / "theirs.md")
    bob.dmp("doc", "show", "pruning", "--output", theirs)
    assert Path(theirs).read_text() == TEXT

    change(mine, "March", "April")
    ada.dmp("doc", "put", mine)
    change(theirs, "Clean it.", "Oil it.")
    change(theirs, "March", "May")
    bob.dmp("doc", "put", theirs, "--summary", "Oil")
    sync(ada, bob, ada)
    for person in (ada, bob):
        assert "2 concurrent" in person.dmp("doc", "list")
        told = person.dmp("doc", "diff", "pruning")
        assert {"Start in April.", "Start in May."} <= {line[1:] for line in told.splitlines()}
    assert ada.json("doc", "log", "pruning") != {}

    assert "`dmp doc merge`" in ada.refused("doc", "edit", "pruning")
    assert "there is no editor here" in ada.refused("doc", "merge", "pruning")
    both = str(tmp_path / "both.md")
    assert ada.json("doc", "merge", "pruning", "--output", both)["conflicts"] is True
    assert "marks of conflicts" in ada.refused("doc", "merge", "pruning", both)
    lines = Path(both).read_text().splitlines(keepends=True)
    Path(both).write_text("".join(line for line in lines if line[0] not in "<|=>" and "Ma" not in line))
    joined = ada.json("doc", "merge", "pruning", both)
    assert joined.keys() == PUT
    sync(ada, bob)
    assert bob.try_("doc", "show", "pruning", "--output", "-").out == TEXT.replace("March", "April").replace(
        "Clean", "Oil"
    )
    assert "2 concurrent" not in bob.dmp("doc", "list")
    assert ada.dmp("problems") == bob.dmp("problems") == "No problems.\n"


def test_an_editor_opens_on_what_conflicts_and_the_text_is_kept_where_marks_are_left(
    tmp_path: Path, ada: Person
) -> None:
    mine = write(tmp_path, "pruning.md", "March\n")
    base = ada.json("doc", "put", mine)["revision"]["id"]
    for month in ("April", "May"):
        other = write(tmp_path, f"{month}.md", f"{month}\n")
        ada.dmp("doc", "put", other, "pruning", "--base", base)
    editor = write(tmp_path, "editor", '#!/bin/sh\nsed -i "$EDIT" "$1"\n')
    Path(editor).chmod(0o755)
    with_editor = Editing(ada.handle, ada.root, ada.home, editor, "s/March/June/")
    refused = with_editor.refused("doc", "merge", "pruning")
    kept = refused.partition("it is kept in ")[2].partition(":")[0]
    assert "June" in Path(kept).read_text()
    Path(kept).write_text("June\n")
    ada.dmp("doc", "merge", "pruning", kept)
    Path(kept).unlink()
    assert ada.json("doc", "show", "pruning")["body"] == "June\n"
    assert "nothing was saved" in Editing(ada.handle, ada.root, ada.home, "true", "").refused(
        "doc", "edit", "pruning"
    )
    bytes_ = r"""sh -c 'printf "\\377" > "$0"'"""
    assert "no UTF-8" in Editing(ada.handle, ada.root, ada.home, bytes_, "").refused("doc", "edit", "pruning")
    Editing(ada.handle, ada.root, ada.home, editor, "s/June/July/").dmp("doc", "edit", "pruning")
    assert ada.json("doc", "show", "pruning")["revision"]["cause"] == "edit"


def test_a_text_that_was_written_in_the_editor_and_is_refused_is_kept(tmp_path: Path, ada: Person) -> None:
    ada.dmp("doc", "put", write(tmp_path, "pruning.md", "March\n"))
    too_long = r"""sh -c 'head -c 800000 /dev/zero | tr "\0" x > "$0"'"""
    refused = Editing(ada.handle, ada.root, ada.home, too_long, "").refused("doc", "edit", "pruning")
    kept = Path(refused.partition("it is kept in ")[2].partition(":")[0])
    assert kept.read_text() == "x" * 800_000
    kept.write_text("x\n")
    ada.dmp("doc", "put", str(kept))
    kept.unlink()
    assert ada.json("doc", "show", "pruning")["body"] == "x\n"


class Editing(Person):
    """Somebody with an editor that changes a text by a command of sed."""

    def __init__(self, handle: str, root: Path, home: Path, editor: str, edit: str) -> None:
        super().__init__(handle, root, home)
        object.__setattr__(self, "_editor", (editor, edit))

    @property
    def environment(self) -> dict[str, str]:
        editor, edit = self.__dict__["_editor"]
        return {**super().environment, "EDITOR": editor, "EDIT": edit}


def test_an_agents_change_of_an_accepted_document_waits_for_its_person(
    tmp_path: Path, ada: Person, bob: Person
) -> None:
    mine = write(tmp_path, "pruning.md", TEXT)
    ada.dmp("doc", "put", mine)
    ada.dmp("doc", "set", "pruning", "--status", "accepted")
    sync(ada, bob)
    bob.dmp("agent", "register", "helper", "--client", "cli")
    bob.dmp("agent", "approve", "helper")
    theirs = str(tmp_path / "theirs.md")
    bob.dmp("doc", "show", "pruning", "--output", theirs)
    change(theirs, "small", "sharp")
    done = bob.json("doc", "put", theirs, "--as", "agent:bob/helper", "--summary", "Sharper")
    assert done.keys() == PUT
    assert done["revision"]["standing"] == "proposed"
    (held,) = bob.json("doc", "held")["held"]
    assert held["gate"]["id"] == done["gate"]["id"]
    sync(bob, ada)
    assert ada.json("doc", "held") == {"held": [], "passedOver": 0}
    bob.dmp("answer", done["gate"]["id"], "approve")
    sync(bob, ada)
    shown = ada.json("doc", "show", "pruning")
    assert (shown["revision"]["author"], shown["revision"]["approvedBy"]) == ("agent:bob/helper", "human:bob")
    assert "sharp saw" in shown["body"]
    assert "approved by human:bob" in ada.dmp("doc", "log", "pruning")


def test_two_processes_that_put_at_once_lose_nothing(tmp_path: Path, ada: Person) -> None:
    paths = [write(tmp_path, f"text-{number}.md", f"# Text {number}\n") for number in range(4)]
    running = [ada.running("doc", "put", path) for path in paths]
    entered = [each.__enter__() for each in running]
    for process in entered:
        assert process.end().code == 0
    for each in running:
        each.__exit__(None, None, None)
    assert len(ada.json("doc", "list")["documents"]) == 4


def test_a_file_with_changes_of_its_own_is_not_overwritten(tmp_path: Path, ada: Person) -> None:
    mine = write(tmp_path, "pruning.md", TEXT)
    ada.dmp("doc", "put", mine)
    other = write(tmp_path, "other.md", "mine\n")
    assert "text of its own" in ada.refused("doc", "show", "pruning", "--output", other)
    change(mine, "March", "April")
    assert "text of its own" in ada.refused("doc", "show", "pruning", "--output", mine)
    ada.dmp("doc", "put", mine)
    ada.dmp("doc", "show", "pruning", "--output", mine)
    assert "went on meanwhile" not in ada.dmp("doc", "put", mine)


def test_what_programs_read(run: Run, tmp_path: Path, ada: Person) -> None:
    mine = write(tmp_path, "pruning.md", TEXT)
    made = run(ada, "doc", "put", mine)
    assert (made.keys(), made["document"].keys(), made["revision"].keys()) == (PUT, DOCUMENT, REVISION)
    assert (made["changed"], made["gate"], made["revision"]["published"]) == (True, None, False)
    doc, revision = made["document"]["id"], made["revision"]["id"]
    assert run(ada, "doc", "list") == {"documents": [made["document"]]}
    shown = run(ada, "doc", "show", doc)
    assert (shown.keys(), shown["body"]) == ({"document", "revision", "body"}, TEXT)
    log = run(ada, "doc", "log", "pruning")
    assert (log.keys(), log["revisions"]) == ({"document", "revisions"}, [made["revision"]])
    diff = run(ada, "doc", "diff", "pruning")
    assert (diff.keys(), diff["from"], diff["to"]) == ({"document", "from", "to", "diff"}, None, revision)
    assert "+Start in March." in diff["diff"]
    assert run(ada, "doc", "put", mine)["changed"] is False
    linked = run(ada, "doc", "set", "pruning", "--link", "spec:task:t-0000aa", "--alias", "saws")
    assert linked["document"]["links"] == [{"rel": "spec", "type": "task", "id": "t-0000aa"}]
    assert linked["document"]["aliases"] == ["saws"]
    assert run(ada, "doc", "show", "nothing", code=1)["error"]["field"] == "doc"
    assert run(ada, "doc", "put", str(tmp_path / "none.md"), code=1)["error"]["field"] == "FILE"
    for link in ("x", "spec:task:t-1", "plan:run:x", "context:doc:guide", "context:memory:mem-1"):
        assert run(ada, "doc", "set", "pruning", "--link", link, code=1)["error"]["field"] == "link"
    assert run(ada, "doc", "remove", "saws")["document"]["removed"] is True
    assert run(ada, "doc", "list") == {"documents": []}
    assert run(ada, "doc", "put", mine, code=1)["error"]["field"] == "FILE"
    assert run(ada, "doc", "approve", doc, revision, code=1)["error"]["code"] == "conflict"
    Path(mine).write_text("Back.\n")
    assert run(ada, "doc", "put", mine, doc)["document"]["removed"] is False


def test_a_hostile_text_does_not_act_on_a_terminal_or_pass_for_a_line_of_dmp(
    tmp_path: Path, ada: Person
) -> None:
    hostile = "# \x1b[2J Hi\n\nNo problems.\n\x1b]0;x\x07\u202e\r\u2028dmp: all is well\n"
    assert "--slug" in ada.refused("doc", "put", "-", stdin=hostile, code=2)
    ada.dmp("doc", "put", "-", "--slug", "evil", "--summary", "\x1b[31m”red“", stdin=hostile)
    for command in (("list",), ("show", "evil"), ("log", "evil"), ("diff", "evil")):
        told = ada.dmp("doc", *command)
        assert not set("\x1b\x07\u202e\r\u2028") & set(told)
        assert not any(line.startswith(("No problems", "dmp:")) for line in told.splitlines())
    assert ada.try_("doc", "show", "evil", "--output", "-").out == hostile
    assert json.loads(ada.try_("doc", "show", "evil", "--json").out)["body"] == hostile
