"""`config.toml`: what a replica's owner set, each a table of a few keys.

A file that is malformed in any place counts as not there, as a whole: nothing of it is guessed at, the
guardrails keep their defaults (section C.7), and its owner is told which key is at fault.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, cast

from core.host import Limits
from replica.chain.quotas import Quotas

Policy = Literal["ask", "allow"]

UNACKNOWLEDGED_HOURS: Final = 24
"""Machines of people who work by day publish on the day after, whatever the hour."""

PRUNE_AFTER_DAYS: Final = 7
"""A teammate who restores a backup that is not older can still have all mail again."""


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """What becomes of memory that no human stands behind: asked about by a gate, or accepted (F.7).

    `agents` is for what agents and sessions of this host write, `teammates` for what arrives.
    """

    agents: Policy = "ask"
    teammates: Policy = "ask"


@dataclass(frozen=True, slots=True)
class Config:
    """The settings. Commands are lines for the shell; `fault` says why the file counts for nothing.

    `unacknowledged_hours` is how long a teammate's machine that publishes may go on not to acknowledge this replica's
    ops before its owner is told; None for ever. `prune_after_days` is how old own mail becomes before its content is
    taken back, once everybody has it; None keeps it.
    """

    notify_command: str | None = None
    notify_desktop: bool = False
    wake_command: str | None = None
    wake_policy: Policy = "ask"
    gates_command: str | None = None
    limits: Limits = field(default_factory=Limits)
    quotas: Quotas = field(default_factory=Quotas)
    memory: MemoryPolicy = field(default_factory=MemoryPolicy)
    unacknowledged_hours: int | None = UNACKNOWLEDGED_HOURS
    prune_after_days: int | None = PRUNE_AFTER_DAYS
    fault: str | None = None


class _Fault(Exception):  # noqa: N818 - becomes `Config.fault`
    pass


_MOST: Final = 1_000_000
_MOST_BYTES: Final = 100_000
_TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "notify": ("command", "desktop"),
    "wake": ("command", "policy"),
    "gates": ("command",),
    "memory": ("agents", "teammates"),
    "limits": ("urgent_per_hour", "agent_turns_per_thread_per_hour"),
    "quotas": (
        "mail_per_hour",
        "state_per_hour",
        "recipients_per_hour",
        "shared_per_hour",
        "memories_per_hour",
        "documents_per_hour",
    ),
    "problems": ("unacknowledged_hours",),
    "pruning": ("after_days",),
}
_OFF: Final = "off"
_MAY_BE_OFF: Final = ("quotas", "problems", "pruning")


def read_config(path: Path) -> Config:
    """Read the file, which need not be there."""
    try:
        text = _text(path)
    except FileNotFoundError:
        return Config()
    except _Fault as fault:
        return Config(fault=f"{path}: {fault}")
    except OSError as error:
        return Config(fault=f"{path} cannot be read: {error.strerror or error}")
    except UnicodeDecodeError as error:
        return Config(fault=f"{path} cannot be read: {error}")
    import tomllib  # few replicas have the file, and every command asks for it

    try:
        return _config(tomllib.loads(text))
    except _Fault as fault:
        return Config(fault=f"{path}: {fault}")
    except RecursionError:
        return Config(fault=f"{path} is no TOML that can be read: it is nested too deeply")
    except ValueError as error:  # no TOML, or a number of more digits than Python reads
        return Config(fault=f"{path} is no TOML: {error}")


def _text(path: Path) -> str:
    """Return what the file holds, without waiting for what is no file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
            raise _Fault(f"it must be a file of at most {_MOST_BYTES} bytes")
        return os.read(descriptor, _MOST_BYTES).decode()
    finally:
        os.close(descriptor)


def _config(content: Mapping[str, Any]) -> Config:
    for name, table in content.items():
        if name not in _TABLES:
            raise _Fault(f"there is no table [{_shown(name)}]; the tables are {', '.join(_TABLES)}")
        if not isinstance(table, dict):
            raise _Fault(f"{name} must be a table, [{name}]")
        for key in table:
            if key not in _TABLES[name]:
                raise _Fault(f"there is no key {name}.{_shown(key)}; [{name}] has {', '.join(_TABLES[name])}")
    limits, quotas = Limits(), Quotas()
    return Config(
        notify_command=_command(content, "notify"),
        notify_desktop=_flag(content, "notify", "desktop"),
        wake_command=_command(content, "wake"),
        wake_policy=_policy(content, "wake", "policy"),
        gates_command=_command(content, "gates"),
        memory=MemoryPolicy(
            agents=_policy(content, "memory", "agents"), teammates=_policy(content, "memory", "teammates")
        ),
        limits=Limits(
            urgent_per_hour=_count(content, "limits", "urgent_per_hour", limits.urgent_per_hour),
            agent_turns_per_thread_per_hour=_count(
                content, "limits", "agent_turns_per_thread_per_hour", limits.agent_turns_per_thread_per_hour
            ),
        ),
        quotas=Quotas(
            mail=_or_off(content, "quotas", "mail_per_hour", quotas.mail),
            state=_or_off(content, "quotas", "state_per_hour", quotas.state),
            recipients=_or_off(content, "quotas", "recipients_per_hour", quotas.recipients),
            shared=_or_off(content, "quotas", "shared_per_hour", quotas.shared),
            memories=_or_off(content, "quotas", "memories_per_hour", quotas.memories),
            documents=_or_off(content, "quotas", "documents_per_hour", quotas.documents),
        ),
        unacknowledged_hours=_or_off(content, "problems", "unacknowledged_hours", UNACKNOWLEDGED_HOURS),
        prune_after_days=_or_off(content, "pruning", "after_days", PRUNE_AFTER_DAYS),
    )


def _get(content: Mapping[str, Any], table: str, key: str, default: object) -> object:
    return cast("Mapping[str, object]", content.get(table, {})).get(key, default)


def _command(content: Mapping[str, Any], table: str) -> str | None:
    value = _get(content, table, "command", None)
    if value is not None and (not isinstance(value, str) or not value.strip() or "\0" in value):
        raise _Fault(f"{table}.command must be a line for the shell, in quotes")
    return value


def _flag(content: Mapping[str, Any], table: str, key: str) -> bool:
    value = _get(content, table, key, False)
    if not isinstance(value, bool):
        raise _Fault(f"{table}.{key} must be true or false")
    return value


def _policy(content: Mapping[str, Any], table: str, key: str) -> Policy:
    value = _get(content, table, key, "ask")
    if value not in ("ask", "allow"):
        raise _Fault(f'{table}.{key} must be "ask" or "allow"')
    return value


def _count(content: Mapping[str, Any], table: str, key: str, default: int | None) -> int:
    value = _get(content, table, key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
        or_off = f', or "{_OFF}"' if table in _MAY_BE_OFF else ""
        raise _Fault(f"{table}.{key} must be a whole number from 1 to {_MOST}{or_off}")
    return value


def _or_off(content: Mapping[str, Any], table: str, key: str, default: int | None) -> int | None:
    return None if _get(content, table, key, default) == _OFF else _count(content, table, key, default)


def _shown(name: str) -> str:
    return name if name.isprintable() and len(name) <= 40 else ascii(name[:40])
