"""Scope gates that nobody decided in time are denied, so that a session that waits hears of it (section C.3)."""

import logging
from typing import Final

from core.engine import Engine
from core.errors import DmpError
from core.gate_data import data_type
from core.inputs import Sender, SendInput
from core.message import Message
from core.store.messages import blocking_questions_of_sessions
from core.timestamp import timestamp

SCOPE_MS: Final = 29 * 60_000
"""How long a scope gate waits, in milliseconds: a minute less than the session that asks (section B.2)."""

_log = logging.getLogger(__name__)


def expire(engine: Engine, now_ms: int) -> None:
    """Deny, as the system address, every scope gate that is open for too long."""
    for gate in blocking_questions_of_sessions(engine.store.db, timestamp(now_ms - SCOPE_MS)):
        if data_type(gate.data) == "scope":
            _deny(engine, gate)


def _deny(engine: Engine, gate: Message) -> None:
    denial = SendInput(
        to=(gate.sender,),
        kind="answer",
        body="Nobody decided this in time.",
        reply_to=gate.id,
        choice="deny",
        data={"type": "x-expired"},
    )
    try:
        engine.send(Sender(engine.host.system_address), denial)
    except DmpError as error:  # decided in this very moment, by another process
        _log.info("gate %s did not expire: %s", gate.id, error.code)
