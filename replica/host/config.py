"""What a replica's owner set: in the environment, and in `config.toml`, in this order.

What is malformed in any place counts as not there, as a whole: nothing of it is guessed at, the guardrails keep
their defaults (section C.7), and its owner is told which key is at fault.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, cast

from core.host import Limits
from replica.chain.quotas import Quotas
from replica.host.settings import (
    A2A_MOST_WAIT_SECONDS,
    A2A_REQUESTS_PER_MINUTE,
    A2A_WAIT_SECONDS,
    AGENT_BLOCKING_TIMEOUT_SEC,
    BY_NAME,
    CONTEXT_PROTOCOL,
    PEER_MESSAGES_PER_HOUR,
    PRUNE_AFTER_DAYS,
    SETTINGS,
    TABLES,
    UNACKNOWLEDGED_HOURS,
    SettingError,
    Value,
    nearest,
    split,
)

Policy = Literal["ask", "allow"]

_MOST_BYTES: Final = 100_000


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """What becomes of memory that no human stands behind: asked about by a gate, or accepted (F.7).

    `agents` is for what agents and sessions of this host write, `teammates` for what arrives.
    """

    agents: Policy = "ask"
    teammates: Policy = "ask"


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """How `dmp serve` runs: where it listens, under which names, where else metrics are, its pace and its log, and
    where agents' tools are.
    """

    listen: str = "127.0.0.1:7440"
    names: tuple[str, ...] = ()
    metrics: str | None = None
    interval: int = 30
    log: str = "auto"
    log_level: str = "warning"
    mcp: str | None = None


@dataclass(frozen=True, slots=True)
class PeersConfig:
    """What bounds messages to A2A peers (section 8.9): hosts that need not be public, and how many go in an hour."""

    private_hosts: frozenset[str] = frozenset()
    messages_per_hour: int = PEER_MESSAGES_PER_HOUR


@dataclass(frozen=True, slots=True)
class A2aConfig:
    """Where A2A clients reach this host (section 8.1), what its card says of it, and what it takes from them.

    An empty `url` stands for the address it listens at.
    """

    listen: str | None = None
    url: str = ""
    name: str = "DMP host"
    description: str = "Asks the owner of a project, and hands work off to it."
    wait_seconds: int = A2A_WAIT_SECONDS
    handoffs: bool = True
    requests_per_minute: int = A2A_REQUESTS_PER_MINUTE


@dataclass(frozen=True, slots=True)
class EnvelopeConfig:
    """Where this host takes A2A messages that carry a machine envelope, and which envelopes it accepts.

    `recipient` and `issuers` are what was typed; empty ones stand for this host's own key.
    """

    listen: str | None = None
    url: str = ""
    recipient: str = ""
    issuers: tuple[str, ...] = ()
    kind: str = "intent"
    context_protocol: str = CONTEXT_PROTOCOL
    skills: frozenset[str] = frozenset({"handoff"})
    issue: bool = False
    most: int = 100_000


@dataclass(frozen=True, slots=True)
class InstancesConfig:
    """Where A2A clients reach instances, and the URL that is said of it; an empty one stands for the address."""

    listen: str | None = None
    url: str = ""


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
    agent_blocking_timeout_sec: int = AGENT_BLOCKING_TIMEOUT_SEC
    serve: ServeConfig = field(default_factory=ServeConfig)
    a2a: A2aConfig = field(default_factory=A2aConfig)
    peers: PeersConfig = field(default_factory=PeersConfig)
    machine_envelope: EnvelopeConfig = field(default_factory=EnvelopeConfig)
    instance_routing: InstancesConfig = field(default_factory=InstancesConfig)
    fault: str | None = None


def read_config(path: Path, environment: Mapping[str, str] = os.environ) -> Config:
    """Read the environment, and the file, which need not be there."""
    try:
        return _config(read_values(path, environment))
    except SettingError as fault:
        return Config(fault=str(fault))


def read_values(path: Path, environment: Mapping[str, str] = os.environ) -> dict[str, Value]:
    """What is set, by names of keys; those that nobody set are not there. Raises SettingError with what is at fault."""
    values = _of_file(path)
    for each in SETTINGS:
        if text := environment.get(each.variable):
            try:
                values[each.name] = each.read(text)
            except SettingError as error:
                raise SettingError(f"${each.variable}: {error}") from None
    return values


def _of_file(path: Path) -> dict[str, Value]:
    try:
        text = _text(path)
    except FileNotFoundError:
        return {}
    except SettingError as fault:
        raise SettingError(f"{path}: {fault}") from None
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise SettingError(f"{path} cannot be read: {error}") from None
    import tomllib  # few replicas have the file, and every command asks for it

    try:
        return _values(tomllib.loads(text))
    except SettingError as fault:
        raise SettingError(f"{path}: {fault}") from None
    except RecursionError:
        raise SettingError(f"{path} is no TOML that can be read: it is nested too deeply") from None
    except ValueError as error:  # no TOML, or a number of more digits than Python reads
        raise SettingError(f"{path} is no TOML: {error}") from None


def _text(path: Path) -> str:
    """Return what the file holds, without waiting for what is no file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
            raise SettingError(f"it must be a file of at most {_MOST_BYTES} bytes")
        return os.read(descriptor, _MOST_BYTES).decode()
    finally:
        os.close(descriptor)


def _values(content: Mapping[str, Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, table in content.items():
        if name not in TABLES:
            raise SettingError(
                f"there is no table [{_shown(name)}]{nearest(name)}; the tables are {', '.join(TABLES)}"
            )
        if not isinstance(table, dict):
            raise SettingError(f"{name} must be a table, [{name}]")
        for key, value in table.items():
            setting = BY_NAME.get(f"{name}.{key}")
            if setting is None:
                keys = ", ".join(each.key for each in SETTINGS if each.table == name)
                raise SettingError(
                    f"there is no key {name}.{_shown(key)}{nearest(f'{name}.{key}')}; [{name}] has {keys}"
                )
            found[setting.name] = setting.check(value)
    return found


def _config(values: Mapping[str, Value]) -> Config:
    def get(name: str) -> Any:
        return values[name] if name in values else BY_NAME[name].default

    def policy(name: str) -> Policy:
        return cast("Policy", get(name))

    return Config(
        notify_command=get("notify.command"),
        notify_desktop=get("notify.desktop"),
        wake_command=get("wake.command"),
        wake_policy=policy("wake.policy"),
        gates_command=get("gates.command"),
        memory=MemoryPolicy(policy("memory.agents"), policy("memory.teammates")),
        limits=Limits(get("limits.urgent_per_hour"), get("limits.agent_turns_per_thread_per_hour")),
        agent_blocking_timeout_sec=get("limits.agent_blocking_timeout_sec"),
        quotas=Quotas(
            mail=get("quotas.mail_per_hour"),
            state=get("quotas.state_per_hour"),
            recipients=get("quotas.recipients_per_hour"),
            shared=get("quotas.shared_per_hour"),
            memories=get("quotas.memories_per_hour"),
            documents=get("quotas.documents_per_hour"),
        ),
        unacknowledged_hours=get("problems.unacknowledged_hours"),
        prune_after_days=get("pruning.after_days"),
        a2a=A2aConfig(
            get("serve.a2a"),
            get("a2a.url"),
            get("a2a.name"),
            get("a2a.description"),
            min(get("a2a.wait_seconds"), A2A_MOST_WAIT_SECONDS),
            get("a2a.handoffs"),
            get("a2a.requests_per_minute"),
        ),
        peers=PeersConfig(
            frozenset(each.lower() for each in split(get("a2a.private_hosts"))),
            get("a2a.peer_messages_per_hour"),
        ),
        machine_envelope=EnvelopeConfig(
            get("machine_envelope.listen"),
            get("machine_envelope.url"),
            get("machine_envelope.recipient"),
            tuple(split(get("machine_envelope.issuers"))),
            get("machine_envelope.kind"),
            get("machine_envelope.context_protocol"),
            frozenset(split(get("machine_envelope.skills"))),
            get("machine_envelope.issue"),
            get("machine_envelope.most"),
        ),
        instance_routing=InstancesConfig(get("instance_routing.listen"), get("instance_routing.url")),
        serve=ServeConfig(
            get("serve.listen"),
            tuple(split(get("serve.names"))),
            get("serve.metrics"),
            get("serve.interval"),
            get("serve.log"),
            get("serve.log_level"),
            get("serve.mcp"),
        ),
    )


def _shown(name: str) -> str:
    return name if name.isprintable() and len(name) <= 40 else ascii(name[:40])
