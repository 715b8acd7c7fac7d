"""A host writes to an instance behind another host's gateway: both sides as they run, over a socket."""

import asyncio
from pathlib import Path

from bindings.a2a.peers import adding
from bindings.a2a.peers.relaying import relaying
from bindings.instance_routing.running import running
from core.inputs import Sender, SendInput
from replica.host.config import read_config
from replica.node import create, opened
from replica.service.changes import Changes
from tests.bindings.instance_routing.gateway import ACME, Machine, run


def test_a_question_to_a_peer_goes_to_the_instance_it_names_and_its_reply_is_the_answer(
    ada: Machine, tmp_path: Path
) -> None:
    root = tmp_path / "bob"
    create(root, "bob", "laptop")
    (root / "config.toml").write_text('[a2a]\nprivate_hosts = "localhost"\n')
    config = read_config(root / "config.toml", {})

    async def work() -> None:
        with Changes(ada.root / "state.db") as hers, Changes(root / "state.db") as his, opened(root) as bob:
            async with (
                running(ada.root, hers, "localhost:0", "") as url,
                relaying(root, his, config),
            ):
                peer = await adding.add(
                    "scribe",
                    f"{url}/.well-known/agent-card.json",
                    config.peers.private_hosts,
                    options={"recipientInstanceId": ada.scribe.id, "deliveryMode": "inbox"},
                )
                adding.keep(bob, peer, ada.secrets[ACME])
                asked = bob.engine.send(
                    Sender(bob.address, can_decide=True),
                    SendInput(("a2a:scribe",), "question", "Which build is out?", blocking=True),
                ).message
                while not ada.inbox():
                    await asyncio.sleep(0.01)
                (arrived,) = ada.inbox()
                assert (arrived.sender, arrived.body) == (ACME, "Which build is out?")
                ada.answer(arrived, "Build 12.")
                while (answer := bob.engine.answer_of(asked.id)) is None:
                    await asyncio.sleep(0.01)
                assert answer.sender == "a2a:scribe"
                assert answer.body == "Build 12."
                assert len(ada.inbox()) == 1

    run(work())
