"""Everything a replica's owner can set: one table, with three spellings: `config.toml`, the environment and flags.

A key `wake.policy` is `policy` in the table `[wake]` of the file, `DMP_WAKE_POLICY` in the environment, and
`--wake-policy` where a command takes flags for it; those of `[serve]` are flags of `dmp serve` under their own names.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from core.host import Limits
from replica.chain.quotas import Quotas

UNACKNOWLEDGED_HOURS: Final = 24
"""Machines of people who work by day publish on the day after, whatever the hour."""

PRUNE_AFTER_DAYS: Final = 7
"""A teammate who restores a backup that is not older can still have all mail again."""

AGENT_BLOCKING_TIMEOUT_SEC: Final = 600
"""By section C.7."""

PEER_MESSAGES_PER_HOUR: Final = 60
"""A person and a few sessions ask less of one agent; what loops stops here."""

A2A_WAIT_SECONDS: Final = 60
"""By section 8.10."""

A2A_MOST_WAIT_SECONDS: Final = 600
"""By section 8.10."""

A2A_REQUESTS_PER_MINUTE: Final = 600
"""An agent that polls ten tasks every second; what loops stops here."""

CONTEXT_PROTOCOL: Final = "a2a-message/send@1.0"
"""What is called is A2A 1.0's."""

OFF: Final = "off"

_MOST: Final = 1_000_000
_LONGEST: Final = 4_000
_TRUE: Final = ("true", "yes", "on", "1")
_FALSE: Final = ("false", "no", "off", "0")

Value = str | int | bool | None
"""What a key is set to; None for what is off, or has no value."""


class Form(Enum):
    """What may be written for a key."""

    COMMAND = auto()  # a line for the shell
    FLAG = auto()  # true or false
    CHOICE = auto()  # one of `choices`
    COUNT = auto()  # a whole number from 1 on
    COUNT_OR_OFF = auto()
    ADDRESS = auto()  # HOST:PORT
    ADDRESS_OR_OFF = auto()
    NAMES = auto()  # host names with commas between, or nothing
    TEXT = auto()  # a line, or nothing


class SettingError(ValueError):
    """What was written for a key is not what may be written for it; the text says what may."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: where it stands, what may be written for it, what it is without that, and what it is for.

    `example` is shown where there is no value by default.
    """

    table: str
    key: str
    form: Form
    default: Value
    says: str
    choices: tuple[str, ...] = ()
    example: str = ""

    @property
    def name(self) -> str:
        """Its name, with its table's."""
        return f"{self.table}.{self.key}"

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return f"DMP_{self.table}_{self.key}".upper()

    @property
    def flag(self) -> str:
        """Its flag of `dmp serve`."""
        name = self.key if self.table == "serve" else f"{self.table}-{self.key}"
        return f"--{name.replace('_', '-')}"

    @property
    def must_be(self) -> str:
        """What may be written for it."""
        match self.form:
            case Form.COMMAND:
                return "a line for the shell, in quotes"
            case Form.FLAG:
                return "true or false"
            case Form.CHOICE:
                return " or ".join(f'"{each}"' for each in self.choices)
            case Form.COUNT:
                return f"a whole number from 1 to {_MOST}"
            case Form.COUNT_OR_OFF:
                return f'a whole number from 1 to {_MOST}, or "{OFF}"'
            case Form.ADDRESS:
                return 'an address, "HOST:PORT"'
            case Form.ADDRESS_OR_OFF:
                return f'an address, "HOST:PORT", or "{OFF}"'
            case Form.NAMES:
                return "host names with commas between"
            case Form.TEXT:
                return f"a line of at most {_LONGEST} characters"

    @property
    def shown_default(self) -> str:
        """Its default as it would be written in the file."""
        return written(self.default)

    def check(self, value: object) -> Value:
        """Return what a value of the file means. Raises SettingError."""
        match self.form:
            case Form.COMMAND:
                sound = isinstance(value, str) and bool(value.strip()) and "\0" not in value
            case Form.FLAG:
                sound = isinstance(value, bool)
            case Form.CHOICE:
                sound = value in self.choices
            case Form.COUNT:
                sound = _is_count(value)
            case Form.COUNT_OR_OFF:
                sound = value == OFF or _is_count(value)
            case Form.ADDRESS:
                sound = _is_address(value)
            case Form.ADDRESS_OR_OFF:
                sound = value == OFF or _is_address(value)
            case Form.NAMES:
                sound = isinstance(value, str) and all(map(_NAME.fullmatch, split(value)))
            case Form.TEXT:
                sound = isinstance(value, str) and value.isprintable() and len(value) <= _LONGEST
        if not sound or not isinstance(value, str | int):
            raise SettingError(f"{self.name} must be {self.must_be}")
        return None if value == OFF and self.form in _MAY_BE_OFF else value

    def read(self, text: str) -> Value:
        """Return what a text means, of the environment or a flag. Raises SettingError."""
        value: object = text
        if self.form is Form.FLAG:
            value = text.lower() in _TRUE if text.lower() in (*_TRUE, *_FALSE) else text
        elif self.form in (Form.COUNT, Form.COUNT_OR_OFF) and text.isascii() and text.isdigit():
            value = int(text) if len(text) <= len(str(_MOST)) else text
        return self.check(value)


_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
_MAY_BE_OFF: Final = (Form.COUNT_OR_OFF, Form.ADDRESS_OR_OFF)

_LIMITS: Final = Limits()
_QUOTAS: Final = Quotas()
_ASK: Final = ("ask", "allow")

SETTINGS: Final = (
    Setting(
        "serve", "listen", Form.ADDRESS, "127.0.0.1:7440", "where `dmp serve` waits for programs and browsers"
    ),
    Setting(
        *("serve", "names", Form.NAMES, ""),
        "host names by which it is reached besides this machine's own, such as that of a proxy in front",
    ),
    Setting(
        *("serve", "metrics", Form.ADDRESS_OR_OFF, None),
        "where else than on `serve.listen` metrics are; on `serve.listen` they are for this machine alone",
        example="127.0.0.1:9440",
    ),
    Setting(
        *("serve", "mcp", Form.ADDRESS_OR_OFF, None),
        "where agents' tools are over HTTP, at /mcp",
        example="127.0.0.1:7441",
    ),
    Setting(
        *("serve", "a2a", Form.ADDRESS_OR_OFF, None),
        "where A2A clients reach this host; a proxy in front of it has TLS",
        example="127.0.0.1:7442",
    ),
    Setting("serve", "interval", Form.COUNT, 30, "the longest time between two syncs, in seconds"),
    Setting(
        *("serve", "log", Form.CHOICE, "auto"),
        "how a line of the log is written; auto is console on a terminal, and else json",
        choices=("auto", "json", "console"),
    ),
    Setting(
        *("serve", "log_level", Form.CHOICE, "warning"),
        "what is logged: this, and what is worse",
        choices=("debug", "info", "warning", "error"),
    ),
    Setting(
        *("notify", "command", Form.COMMAND, None),
        "a command that runs for your new mail, with its digest on standard input",
        example="mail -s dmp ada@example.org",
    ),
    Setting(
        *("notify", "desktop", Form.FLAG, False),
        "whether notify-send, where there is one, tells of new mail: from whom it is, not what it says",
    ),
    Setting(
        *("wake", "command", Form.COMMAND, None),
        "a command that starts a session: DMP_TARGET, DMP_WORK_ITEM, DMP_MESSAGE",
        example="start-agent",
    ),
    Setting(
        "wake", "policy", Form.CHOICE, "ask", "what agents may wake: ask you by a gate, or allow it", _ASK
    ),
    Setting(
        *("gates", "command", Form.COMMAND, None),
        "a command that runs for each decision, as JSON on standard input: type, gate, choice, data, body, by",
        example="release-call",
    ),
    Setting(
        *("limits", "urgent_per_hour", Form.COUNT, _LIMITS.urgent_per_hour),
        "urgent messages that an agent or session may send in an hour",
    ),
    Setting(
        *("limits", "agent_turns_per_thread_per_hour", Form.COUNT, _LIMITS.agent_turns_per_thread_per_hour),
        "messages of agents and sessions in one thread in an hour, before the next reply is refused",
    ),
    Setting(
        *("limits", "agent_blocking_timeout_sec", Form.COUNT, AGENT_BLOCKING_TIMEOUT_SEC),
        "how long an agent's tool waits for the answer of another agent, in seconds; 1800 at most, as for a human's",
    ),
    Setting(
        *("memory", "agents", Form.CHOICE, "ask"),
        "what agents here keep in mind for the project and the team: ask you by a gate, or allow it",
        _ASK,
    ),
    Setting(
        *("memory", "teammates", Form.CHOICE, "ask"),
        "what teammates' machines publish of memory with no person behind it: ask you by a gate, or allow it",
        _ASK,
    ),
    Setting(
        *("quotas", "mail_per_hour", Form.COUNT_OR_OFF, _QUOTAS.mail),
        "messages of one teammate's machine that are applied here in an hour",
    ),
    Setting(
        *("quotas", "state_per_hour", Form.COUNT_OR_OFF, _QUOTAS.state),
        "batches of delivery reports and settlements of one teammate's machine that are applied in an hour",
    ),
    Setting(
        *("quotas", "recipients_per_hour", Form.COUNT_OR_OFF, _QUOTAS.recipients),
        "recipients that messages of one teammate's machine may name in an hour",
    ),
    Setting(
        *("quotas", "shared_per_hour", Form.COUNT_OR_OFF, _QUOTAS.shared),
        "changes of work items, agents, channels and other shared state by one teammate's machine in an hour",
    ),
    Setting(
        *("quotas", "documents_per_hour", Form.COUNT_OR_OFF, _QUOTAS.documents),
        "new documents of one teammate's machine in an hour",
    ),
    Setting(
        *("quotas", "memories_per_hour", Form.COUNT_OR_OFF, _QUOTAS.memories),
        "new entries of memory of one teammate's machine in an hour",
    ),
    Setting(
        *("problems", "unacknowledged_hours", Form.COUNT_OR_OFF, UNACKNOWLEDGED_HOURS),
        "how long a machine that publishes may not acknowledge this one's ops",
    ),
    Setting(
        *("pruning", "after_days", Form.COUNT_OR_OFF, PRUNE_AFTER_DAYS),
        "how old own mail that everybody has becomes before a stub replaces it",
    ),
    Setting(
        *("a2a", "url", Form.TEXT, ""),
        "the URL that the card of `serve.a2a` names, of a proxy in front; without, the address it listens at",
    ),
    Setting(*("a2a", "name", Form.TEXT, "DMP host"), "what the card calls this host"),
    Setting(
        *("a2a", "description", Form.TEXT, "Asks the owner of a project, and hands work off to it."),
        "what the card says of this host",
    ),
    Setting(
        *("a2a", "wait_seconds", Form.COUNT, A2A_WAIT_SECONDS),
        f"how long a client's send waits for an answer at most, in seconds; {A2A_MOST_WAIT_SECONDS} at most",
    ),
    Setting(*("a2a", "handoffs", Form.FLAG, True), "whether clients may hand work off, for you to approve"),
    Setting(
        *("a2a", "requests_per_minute", Form.COUNT, A2A_REQUESTS_PER_MINUTE),
        "requests that one A2A client may make in a minute",
    ),
    Setting(
        *("a2a", "private_hosts", Form.NAMES, ""),
        "hosts of A2A agents that may be reached over http: and at addresses of a network of your own",
    ),
    Setting(
        *("a2a", "peer_messages_per_hour", Form.COUNT, PEER_MESSAGES_PER_HOUR),
        "messages that go to one A2A peer in an hour",
    ),
    Setting(
        *("machine_envelope", "listen", Form.ADDRESS_OR_OFF, None),
        "where A2A agents reach this host with signed envelopes",
        example="127.0.0.1:7443",
    ),
    Setting(
        *("machine_envelope", "url", Form.TEXT, ""),
        "the URL that its card names, of a proxy in front; without, the address it listens at",
    ),
    Setting(
        *("machine_envelope", "recipient", Form.TEXT, ""),
        "the did:key that envelopes name; without, that of this host's own key (`dmp envelope key make`)",
    ),
    Setting(
        *("machine_envelope", "issuers", Form.TEXT, ""),
        "did:key of whoever's envelopes are accepted, with commas between; without, this host's own alone",
    ),
    Setting(
        *("machine_envelope", "kind", Form.TEXT, "intent"),
        "the purpose that envelopes must state: intent, delegation, authorization or another word",
    ),
    Setting(
        *("machine_envelope", "context_protocol", Form.TEXT, CONTEXT_PROTOCOL),
        "the protocol that envelopes must state",
    ),
    Setting(
        *("machine_envelope", "skills", Form.CHOICE, "handoff"),
        "what is taken with envelopes; handoffs taken here are taken nowhere else",
        ("ask", "handoff", "ask, handoff"),
    ),
    Setting(
        *("machine_envelope", "issue", Form.FLAG, False),
        "whether approved clients that prove their did:key are given envelopes of this host's own key",
    ),
    Setting(
        *("machine_envelope", "most", Form.COUNT, 100_000),
        "spent envelopes that are kept until they expired; more are refused",
    ),
    Setting(
        *("instance_routing", "listen", Form.ADDRESS_OR_OFF, None),
        "where A2A clients write to those of your agents that you exposed as instances",
        example="127.0.0.1:7444",
    ),
    Setting(
        *("instance_routing", "url", Form.TEXT, ""),
        "the URL that its card names, of a proxy in front; without, the address it listens at",
    ),
)
"""Every key, in the order of the file."""

BY_NAME: Final[Mapping[str, Setting]] = {each.name: each for each in SETTINGS}
TABLES: Final = tuple(dict.fromkeys(each.table for each in SETTINGS))


def split(names: str) -> list[str]:
    """The names in a list with commas between."""
    return [each for each in map(str.strip, names.split(",")) if each]


def with_flags(environment: Mapping[str, str], flags: Mapping[str, str]) -> dict[str, str]:
    """The environment with what flags say, by names of keys, which goes before it. Raises SettingError for a flag."""
    found = dict(environment)
    for name, text in flags.items():
        setting = BY_NAME[name]
        try:
            setting.read(text)
        except SettingError as error:
            raise SettingError(f"{setting.flag}: {error}") from None
        found[setting.variable] = text
    return found


def nearest(name: str) -> str:
    """The name of a key or a table that somebody may have meant by `name`, as a clause; empty where none is near."""
    import difflib  # nobody needs it where all is well

    known = TABLES if "." not in name else tuple(BY_NAME)
    found = difflib.get_close_matches(name, known, 1, 0.5)
    if not found and "." in name:  # the right key in the wrong table
        key = name.partition(".")[2]
        found = [each.name for each in SETTINGS if each.key == key][:1]
    return f"; did you mean {found[0] if '.' in name else f'[{found[0]}]'}?" if found else ""


def written(value: Value) -> str:
    """A value as it is written in the file."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case None:
            return f'"{OFF}"'
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def template() -> str:
    """A file in which every key stands with its default, as a comment, and with what it is for."""
    lines = [
        "# What you set for this replica; docs/service.md. A key that stands here counts from the next start of",
        "# `dmp serve`, and for other commands at once. Flags go before the environment, and that before this file.",
    ]
    for table in TABLES:
        lines += ["", f"[{table}]"]
        for each in (each for each in SETTINGS if each.table == table):
            value = f'"{each.example}"' if each.default is None and each.example else each.shown_default
            other = " (nothing by default)" if each.default is None and each.example else ""
            lines += [f"# {each.says}{other}", f"# must be {each.must_be}; or ${each.variable}"]
            lines.append(f"#{each.key} = {value}")
    return "\n".join(lines) + "\n"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST


def _is_address(value: object) -> bool:
    if not isinstance(value, str) or not value.isprintable():
        return False
    host, colon, port = value.rpartition(":")
    inner = host.removeprefix("[").removesuffix("]")
    is_bare = ":" not in host or (host.startswith("[") and host.endswith("]"))
    return (
        bool(inner and colon)
        and is_bare
        and port.isascii()
        and port.isdigit()
        and int(port[:6] or 0) <= 65535
    )
