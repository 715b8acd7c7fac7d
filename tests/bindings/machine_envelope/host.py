"""Ada's machine with an A2A client, its key for envelopes, and its listener in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bindings.a2a import clients
from bindings.machine_envelope.attaching import attached, semantic, terms
from bindings.machine_envelope.extension import Params
from bindings.machine_envelope.issuing import issue
from bindings.machine_envelope.keyfile import OwnKey, make_key
from core.inputs import Sender
from core.message import Message
from replica.node import DirectoryNode, create, opened, wall_clock

KIND, PROTOCOL = "offer", "a2a-message/send@1.0"
ACME, OTHER = "agent:ada/a2a.acme", "agent:ada/a2a.other"


@dataclass
class Host:
    """Ada's machine, and what its clients show."""

    root: Path
    node: DirectoryNode
    own: OwnKey
    secrets: dict[str, str]

    @property
    def params(self) -> Params:
        return Params(self.own.did, KIND, PROTOCOL, "")

    def inbox(self) -> list[Message]:
        return [message for _, message in self.node.engine.inbox("human:ada") if message.sender == ACME]

    def spent(self) -> int:
        return int(self.node.store.db.execute("SELECT count(*) FROM machine_envelopes").fetchone()[0])

    def signed(self, message: dict[str, Any], *, minutes: int = 5) -> dict[str, Any]:
        """A message with an envelope that this host accepts."""
        bare = semantic(message, self.params)
        bound = terms(bare, self.params, self.own.did)
        envelope = issue(self.own.key, bound, wall_clock(), os.urandom, minutes * 60_000)
        return attached(bare, self.params, envelope)


@contextmanager
def host(root: Path) -> Iterator[Host]:
    create(root, "ada", "laptop")
    with opened(root) as node:
        secrets = {}
        for address in (ACME, OTHER):
            secrets[address] = clients.add(node, address).secret
            clients.approve(node, Sender("human:ada", can_decide=True), address)
        yield Host(root, node, make_key(root, os.urandom(32), node.now()), secrets)


@contextmanager
def served(ada: Host, **settings: str) -> Iterator[str]:
    """`dmp serve`; the value is the URL of its listener for envelopes."""
    with serving(ada, **settings) as started:
        yield str(started["envelopes"])


@contextmanager
def serving(ada: Host, *options: str, **settings: str) -> Iterator[dict[str, Any]]:
    """`dmp serve`; the value is what it tells at its start."""
    given = {"LISTEN": "127.0.0.1:0", "KIND": KIND, "SKILLS": "ask, handoff", **settings}
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "replica.cli.main",
            "serve",
            "--dir",
            str(ada.root),
            "--listen",
            "127.0.0.1:0",
            "--a2a-requests-per-minute",
            "6000",  # a hundred replays come at once
            "--json",
            *options,
        ],
        stdout=subprocess.PIPE,
        env={**os.environ, **{f"DMP_MACHINE_ENVELOPE_{name}": text for name, text in given.items()}},
    )
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
