"""`config.toml`: read whole or not at all (section C.7), and the key at fault is named."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.host import Limits
from replica.chain.quotas import Quotas
from replica.host.config import Config, MemoryPolicy, ServeConfig, read_config, read_values
from replica.host.settings import BY_NAME, SETTINGS, Form, Setting, SettingError, template, with_flags
from replica.node import create, opened


def read(folder: Path, text: str) -> Config:
    path = folder / "config.toml"
    path.write_text(text)
    return read_config(path)


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    found = read_config(tmp_path / "config.toml")
    assert found == Config()
    assert (found.limits, found.wake_policy, found.fault) == (Limits(10, 20), "ask", None)
    assert found.quotas == Quotas(mail=600, state=600, recipients=30_000, shared=10_000)


def test_every_key_is_read(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        [notify]
        command = "cat >> mail"
        desktop = true
        [wake]
        command = "start"
        policy = "allow"
        [gates]
        command = "decide"
        [limits]
        urgent_per_hour = 3
        agent_turns_per_thread_per_hour = 4
        agent_blocking_timeout_sec = 15
        [quotas]
        mail_per_hour = 5
        state_per_hour = 6
        recipients_per_hour = 7
        shared_per_hour = 8
        documents_per_hour = 9
        memories_per_hour = 10
        [memory]
        agents = "allow"
        teammates = "allow"
        [problems]
        unacknowledged_hours = 11
        [serve]
        listen = "[::1]:12"
        names = "dmp.example,ada.example"
        metrics = "localhost:13"
        interval = 14
        log = "json"
        log_level = "info"
        mcp = "127.0.0.1:16"
        """,
    )
    assert found == Config(
        *("cat >> mail", True, "start", "allow", "decide", Limits(3, 4)),
        Quotas(5, 6, 7, 8, documents=9, memories=10),
        MemoryPolicy("allow", "allow"),
        unacknowledged_hours=11,
        agent_blocking_timeout_sec=15,
        serve=ServeConfig(
            *("[::1]:12", ("dmp.example", "ada.example"), "localhost:13", 14, "json", "info", "127.0.0.1:16")
        ),
    )


def test_a_quota_may_be_off(tmp_path: Path) -> None:
    found = read(tmp_path, '[quotas]\nmail_per_hour = "off"\nshared_per_hour = "off"\n')
    assert found.quotas == Quotas(mail=None, shared=None)


def test_mail_is_pruned_after_a_week_or_when_its_owner_says_or_never(tmp_path: Path) -> None:
    texts = ("", "[pruning]\nafter_days = 30\n", '[pruning]\nafter_days = "off"\n')
    assert [read(tmp_path, text).prune_after_days for text in texts] == [7, 30, None]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[notify", "no TOML"),
        ("[nottify]\n", "there is no table [nottify]; did you mean [notify]?"),
        ("[wake]\ndesktop = true\n", "there is no key wake.desktop; did you mean notify.desktop?"),
        ("[serve]\nlisten = '7440'\n", 'serve.listen must be an address, "HOST:PORT"'),
        ("[serve]\nlisten = '::1:7440'\n", "serve.listen"),
        ("[serve]\nlisten = 'localhost:77777'\n", "serve.listen"),
        ("notify = 1\n", "notify must be a table"),
        ("[wake]\ncomand = 'x'\n", "wake.comand; did you mean wake.command?"),
        ('[memory]\nagents = "deny"\n', 'memory.agents must be "ask" or "allow"'),
        ("[limits]\nurgent_per_hour = 0\n", "limits.urgent_per_hour"),
        ("[limits]\nurgent_per_hour = true\n", "limits.urgent_per_hour"),
        ("[limits]\nurgent_per_hour = 1.5\n", "limits.urgent_per_hour"),
        ("[limits]\nagent_turns_per_thread_per_hour = '9'\n", "limits.agent_turns_per_thread_per_hour"),
        ("[limits]\nurgent_per_hour = 'off'\n", "limits.urgent_per_hour"),
        (
            "[quotas]\nmail_per_hour = 0\n",
            'quotas.mail_per_hour must be a whole number from 1 to 1000000, or "off"',
        ),
        ("[quotas]\nmail_per_hour = false\n", "quotas.mail_per_hour"),
        ("[quotas]\nstate_per_hour = 'none'\n", "quotas.state_per_hour"),
        ("[wake]\npolicy = 'deny'\n", "wake.policy"),
        ("[wake]\ncommand = ['x']\n", "wake.command"),
        ("[gates]\ncommand = ' '\n", "gates.command"),
        ("[notify]\ndesktop = 'yes'\n", "notify.desktop"),
        ('[wake]\ncommand = "a\\u0000b"\n', "wake.command"),
        (f"[limits]\nurgent_per_hour = {'9' * 5000}\n", "no TOML"),
        (f"notify = {'[' * 5000}{']' * 5000}\n", "nested too deeply"),
        ("#" * 100_001, "at most 100000 bytes"),
    ],
)
def test_a_file_with_a_fault_counts_for_nothing_and_the_fault_is_named(
    tmp_path: Path, text: str, named: str
) -> None:
    found = read(tmp_path, text)
    assert found.fault is not None
    assert named in found.fault
    assert Config(fault=found.fault) == found


def test_one_bad_key_takes_the_good_ones_with_it(tmp_path: Path) -> None:
    found = read(tmp_path, "[wake]\ncommand = 'start'\npolicy = 'allow'\n[limits]\nurgent_per_hour = -1\n")
    assert (found.wake_command, found.wake_policy, found.limits) == (None, "ask", Limits())


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe")
    assert "cannot be read" in (read_config(tmp_path / "config.toml").fault or "")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_a_fault_and_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "config.toml")
    assert "must be a file" in (read_config(tmp_path / "config.toml").fault or "")


def test_the_host_has_the_limits_of_the_file(tmp_path: Path) -> None:
    create(tmp_path / "ada", "ada", "laptop")
    (tmp_path / "ada" / "config.toml").write_text("[limits]\nurgent_per_hour = 3\n")
    with opened(tmp_path / "ada") as node:
        assert node.host.limits == Limits(urgent_per_hour=3)


@given(
    st.fixed_dictionaries(
        {}, optional={"flag": st.integers(1, 9), "variable": st.integers(1, 9), "file": st.integers(1, 9)}
    )
)
def test_a_flag_goes_before_the_environment_and_that_before_the_file(written: dict[str, int]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "config.toml"
        if "file" in written:
            path.write_text(f"[serve]\ninterval = {written['file']}\n")
        environment = {"DMP_SERVE_INTERVAL": str(written["variable"])} if "variable" in written else {}
        flags = {"serve.interval": str(written["flag"])} if "flag" in written else {}
        strongest = next((written[each] for each in ("flag", "variable", "file") if each in written), 30)
        assert read_config(path, with_flags(environment, flags)).serve.interval == strongest


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
def test_each_key_may_be_given_in_the_environment_and_as_a_flag(setting: Setting, tmp_path: Path) -> None:
    text = {
        Form.FLAG: "true",
        Form.COUNT: "17",
        Form.COUNT_OR_OFF: "off",
        Form.ADDRESS: "localhost:1",
        Form.ADDRESS_OR_OFF: "off",
        Form.NAMES: "dmp.example, ada.example",
        Form.TEXT: "a line",
        Form.COMMAND: "run this",
        Form.CHOICE: (setting.choices or ("",))[-1],
    }[setting.form]
    meant = setting.read(text)
    path = tmp_path / "config.toml"
    assert read_values(path, {setting.variable: text}) == {setting.name: meant}
    assert read_values(path, with_flags({setting.variable: "x"}, {setting.name: text})) == {
        setting.name: meant
    }
    assert read_values(path, {setting.variable: ""}) == {}
    if setting.form not in (Form.COMMAND, Form.TEXT):
        fault = read_config(path, {setting.variable: "no such thing"}).fault
        assert fault == f"${setting.variable}: {setting.name} must be {setting.must_be}"
        with pytest.raises(SettingError, match=f"^{setting.flag}: "):
            with_flags({}, {setting.name: "no such thing"})


def test_the_printed_file_is_valid_and_its_keys_mean_what_holds_without_it(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(template())
    assert read_config(path) == Config()
    path.write_text(re.sub(r"^#(\w+ = )", r"\1", template(), flags=re.MULTILINE))
    values = read_values(path, {})
    assert values.keys() == BY_NAME.keys()
    assert {name for name, value in values.items() if value != BY_NAME[name].default} == {
        each.name for each in SETTINGS if each.example
    }
