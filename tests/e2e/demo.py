"""The whole story, told by real `dmp` processes: two people, one git branch, one audited chain.

Run it with `make demo`. Everything happens in a temporary folder, which is removed at the end.
"""

import json
import shlex
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.people import Person, Told, Town

QUESTION = "Ship the new orchard page today?"
ANSWER = "Go ahead, the tests are green."


@dataclass
class Stage:
    """Prints what happens as it happens."""

    folder: Path
    chapters: int = 0

    def chapter(self, title: str) -> None:
        """Begin a part of the story."""
        self.chapters += 1
        print(f"\n{self.chapters}. {title}\n")

    def say(self, *lines: str) -> None:
        """Tell something."""
        for line in lines:
            print(f"   {line}".rstrip())

    def run(self, person: Person, *arguments: str, code: int = 0) -> Told:
        """Show a command and what it says. It must end with `code`."""
        print(f"   {person.handle}$ {self._shown('dmp ' + shlex.join(arguments))}")
        told = person.try_(*arguments)
        for line in (told.err + told.out).splitlines():
            print(f"      {self._shown(line)}".rstrip())
        print()
        if told.code != code:
            sys.exit(f"the demo failed: exit code {told.code}, not {code}")
        return told

    def _shown(self, text: str) -> str:
        return text.replace(f"{self.folder}/", "")


def main() -> None:
    """Tell the story."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dmp-demo-") as folder:
        town = Town(Path(folder) / "town", real=True)
        town.build()
        tell(town, Stage(town.folder))
    print(f"That took {time.monotonic() - started:.0f} seconds, and left nothing behind.")


def tell(town: Town, stage: Stage) -> None:
    """The chapters."""
    print(
        "Ada and Bob work on two machines. All they share is a bare git repository, orchard.git.\n"
        "Each line with a $ is a process of its own."
    )
    ada, bob = town.person("ada", init=False), town.person("bob", init=False)
    stage.chapter("Ada makes a replica and founds a team")
    stage.run(ada, "init", "--handle", "ada", "--device", "ada-laptop")
    stage.run(ada, "team", "found", "Orchard", "--git", str(town.repository))

    stage.chapter("Ada invites Bob, and Bob joins")
    code = stage.run(ada, "team", "invite", "bob").out.strip()
    stage.run(bob, "init", "--handle", "bob", "--device", "bob-laptop")
    stage.run(bob, "join", code, "--git", str(town.repository))
    compare_fingerprints(stage, ada, bob)
    stage.run(ada, "sync")
    stage.run(bob, "sync")

    stage.chapter("Ada asks Bob a question, and waits for the answer")
    stage.run(
        ada,
        *("send", "human:bob", QUESTION, "--kind", "question"),
        *("--choice", "yes", "--choice", "no", "--blocking"),
    )
    stage.run(ada, "sync")
    stage.run(bob, "sync")
    stage.run(bob, "inbox")

    stage.chapter("Bob answers, and the question is settled")
    asked = str(bob.json("open")["open"][0]["id"])
    stage.run(bob, "reply", asked, ANSWER, "--choice", "yes")
    stage.run(bob, "sync")
    stage.run(ada, "sync")
    stage.run(ada, "thread", asked)

    stage.chapter("What whoever runs the git server can read, and what not")
    show_the_branch(town, stage, ada)

    stage.chapter("Anybody can audit what was signed; one changed character is caught")
    stage.run(ada, "audit", "--from", f"git:{town.repository}")
    seq = town.tamper(bob)
    stage.say(
        f"Now somebody who can push to the repository changes one character of Bob's answer, op {seq} of his",
        "chain:",
        "",
    )
    told = stage.run(ada, "audit", "--from", f"git:{town.repository}", code=1)
    if f"{seq}" not in told.out:
        sys.exit("the demo failed: the audit does not name the changed op")


def compare_fingerprints(stage: Stage, ada: Person, bob: Person) -> None:
    """On the phone: each reads out their own, and finds it on the other's screen."""
    own = {person.handle: person.json("team", "fingerprint") for person in (ada, bob)}
    seen_by_bob = own["bob"]["founder"]["fingerprint"]
    stage.say(
        "They compare fingerprints on the phone:",
        f"   Ada reads {own['ada']['fingerprint']}; Bob's screen says the founder has {seen_by_bob}.",
    )
    if seen_by_bob != own["ada"]["fingerprint"]:
        sys.exit("the demo failed: the fingerprints differ")
    stage.say("   They are the same, so nobody stands between them. Bob's will be on Ada's screen next.", "")


def show_the_branch(town: Town, stage: Stage, ada: Person) -> None:
    """One mail op as it lies on the branch, shortened; and what cannot be found there."""
    mail = next(op for op in town.lane(ada) if op["type"] == "mail")
    stage.say("This is the op that carried Ada's question, a line of JSON on the branch (shortened):", "")
    for line in json.dumps(shortened(mail), indent=2, ensure_ascii=False).splitlines():
        stage.say(f"   {line}")
    stage.say(
        "",
        "In the clear: which machine wrote it and when (replica, hlc), its place in that machine's chain",
        "(seq, prev), that it is mail, for whose machine (to), and how long it is. Also, in other ops: the",
        "team's name, and everyone's handle, device name and public keys.",
        "Sealed: from whom to whom it is, what kind of message, its choices and its text.",
    )
    everything = town.git("log", "--all", "--patch", folder=town.repository)
    found = [text for text in (QUESTION, ANSWER) if text in everything]
    if found:
        sys.exit(f"the demo failed: {found} can be read on the branch")
    stage.say("", f"Searching every commit of the branch for “{QUESTION}”: not found.")


def shortened(value: Any) -> Any:
    """Long texts cut, so that an op fits on a screen."""
    if isinstance(value, dict):
        return {name: shortened(member) for name, member in value.items()}
    return f"{value[:20]}…" if isinstance(value, str) and len(value) > 44 else value


if __name__ == "__main__":
    main()
