"""Bad adapters, each a real process, and what section 12.4.7 says becomes of their vectors."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.vectors.runner.samples import HELLO, adapter, message, observation, vector, vectors
from vectors.runner import adapter as adapter_module
from vectors.runner.adapter import Adapter
from vectors.runner.running import CannotRun, Outcome, Run

IDS = [f"core.sample.v{number}" for number in range(6)]
SIX = vectors(*(vector(id) for id in IDS))
ANSWERS = [observation(id) for id in IDS]
GATE_TYPES = ["wake", "tool-approval", "scope", "agent-registration", "overseer-action", "memory", "doc"]

PASS, ERROR = Outcome.PASS, Outcome.ADAPTER_ERROR
ON_SECOND = (
    "def answer(vector):\n    if vector['id'].endswith('v1'):\n        {}\n    return ANSWERS[vector['id']]\n"
)
"""Behaves on every vector but the second."""


class Went:
    """A run that is over."""

    def __init__(self, command: str, *, seconds: float = 5.0, judged: list[Any] = SIX) -> None:
        self.log: list[str] = []
        self.started: list[Adapter] = []
        with Run(self._start(command), seconds, GATE_TYPES) as run:
            self.results = list(run.results(judged))
            self.farewell = run.bye()
        self.outcomes = [each.outcome for each in self.results]
        self.reasons = [reason for each in self.results for reason in each.reasons]

    def _start(self, command: str) -> Callable[[], Adapter]:
        def start() -> Adapter:
            self.started.append(Adapter(command, self.log.append))
            return self.started[-1]

        return start


def went(folder: Path, behaviour: str = "", *, seconds: float = 5.0) -> Went:
    return Went(adapter(folder, ANSWERS, behaviour=behaviour), seconds=seconds)


def test_an_honest_adapter_passes_in_one_process(tmp_path: Path) -> None:
    run = went(tmp_path)
    assert run.outcomes == [PASS] * 6
    assert run.farewell is None
    assert len(run.started) == 1


@pytest.mark.parametrize(
    ("act", "told"),
    [
        ("os._exit(3)", "the adapter exited with 3"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("return 'no JSON\\n'", "a line that is not JSON"),
        ("return '\\n'", "a line that is not JSON"),
        ("return '{\"dmp\": NaN}\\n'", "a line that is not JSON"),
        ('return \'{"dmp": "\\\\ud800"}\\n\'', "a line that is not JSON"),
        ("os.write(1, b'\"\\xff\"\\n')", "a line that is not JSON"),
        ("return '[' * 100000 + '\\n'", "a line that is not JSON"),
        ("os.write(1, b'{\"dmp\": '); os._exit(0)", "the adapter exited with 0 in the middle of a line"),
        ("return [1]", "neither an observation nor unsupported"),
        ("return {'dmp': 'hello'}", "neither an observation nor unsupported"),
        ("return ANSWERS['core.sample.v4']", 'for another vector: "core.sample.v4"'),
        ("return {'dmp': 'unsupported', 'id': 'x', 'reason': 'y'}", 'for another vector: "x"'),
    ],
)
def test_a_failing_adapter_loses_that_vector_and_is_started_again(
    act: str, told: str, tmp_path: Path
) -> None:
    run = went(tmp_path, ON_SECOND.format(act))
    assert run.outcomes == [PASS, ERROR, PASS, PASS, PASS, PASS]
    [reason] = run.reasons
    assert told in reason
    assert len(run.started) == 2


@pytest.mark.parametrize(
    ("act", "told"),
    [
        ("time.sleep(60)", "wrote nothing within 1 s"),
        ("os.write(1, b'{\"dmp\"'); time.sleep(60)", "wrote nothing but half a line within 1 s"),
    ],
)
def test_a_hanging_adapter_is_ended_after_the_time_of_a_vector(act: str, told: str, tmp_path: Path) -> None:
    run = went(tmp_path, ON_SECOND.format(act), seconds=1.0)
    assert run.outcomes == [PASS, ERROR, PASS, PASS, PASS, PASS]
    assert told in run.reasons[0]


def test_a_slow_adapter_in_time_passes(tmp_path: Path) -> None:
    run = went(tmp_path, ON_SECOND.format("time.sleep(0.4)"), seconds=10)
    assert run.outcomes == [PASS] * 6


def test_a_vector_that_the_adapter_does_not_read_does_not_hang_the_runner(tmp_path: Path) -> None:
    big = vectors(*(vector(id, title="x" * 300_000) for id in IDS[:2]))  # more than a pipe holds
    run = Went(adapter(tmp_path, behaviour="say(HELLO)\ntime.sleep(60)"), seconds=0.3, judged=big)
    assert run.outcomes == [ERROR] * 2


def test_an_adapter_that_writes_more_than_it_was_asked_loses_the_next_vector(tmp_path: Path) -> None:
    twice = "return (json.dumps(ANSWERS[vector['id']]) + '\\n') * 2"
    run = went(tmp_path, ON_SECOND.format(twice))
    assert run.outcomes == [PASS, PASS, ERROR, PASS, PASS, PASS]


def test_an_endless_line_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter_module, "MAX_LINE", 100_000)
    run = went(tmp_path, ON_SECOND.format("return 'x' * 300_000"))
    assert run.outcomes == [PASS, ERROR, PASS, PASS, PASS, PASS]
    assert run.reasons == ["the adapter wrote a line of more than 100000 bytes"]


def test_after_three_restarts_every_vector_left_is_an_adapter_error(tmp_path: Path) -> None:
    run = went(tmp_path, "def answer(vector):\n    os._exit(1)")
    assert run.outcomes == [ERROR] * 6
    assert len(run.started) == 4
    assert run.reasons[:4] == ["the adapter exited with 1"] * 4
    assert run.reasons[4:] == ["not run: the adapter had been started again 3 times, and it failed"] * 2


def test_three_failures_are_forgiven_to_the_last_vector(tmp_path: Path) -> None:
    run = went(
        tmp_path,
        "def answer(vector):\n    return ANSWERS[vector['id']] if vector['id'][-1] > '2' else '?\\n'",
    )
    assert run.outcomes == [ERROR] * 3 + [PASS] * 3


def test_an_adapter_that_says_another_hello_when_started_again_is_not_used(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    behaviour = (
        f"if os.path.exists({str(mark)!r}): HELLO['systemAddress'] = 'agent:other'\n"
        f"open({str(mark)!r}, 'w').close()\n"
    )
    run = went(tmp_path, behaviour + ON_SECOND.format("os._exit(1)"))
    assert run.outcomes == [PASS] + [ERROR] * 5
    assert run.reasons[1].endswith("and it declared something else than at first")


def test_a_malformed_observation_is_an_adapter_error_and_needs_no_restart(tmp_path: Path) -> None:
    run = went(tmp_path, ON_SECOND.format("return {**ANSWERS[vector['id']], 'messages': [{}]}"))
    assert run.outcomes == [PASS, ERROR, PASS, PASS, PASS, PASS]
    assert run.reasons == ["the observation line is malformed: messages[0] has no id"]
    assert len(run.started) == 1


def test_an_unsupported_vector_is_skipped_with_the_adapters_reason(tmp_path: Path) -> None:
    act = "return {'dmp': 'unsupported', 'id': vector['id'], 'reason': 'no clock'}"
    run = went(tmp_path, ON_SECOND.format(act))
    assert run.outcomes[1] is Outcome.SKIPPED
    assert run.reasons == ["unsupported: no clock"]


def test_unsupported_without_a_reason_is_an_adapter_error(tmp_path: Path) -> None:
    run = went(tmp_path, ON_SECOND.format("return {'dmp': 'unsupported', 'id': vector['id']}"))
    assert run.outcomes == [PASS, ERROR, PASS, PASS, PASS, PASS]
    assert run.reasons == ["the unsupported line is malformed: the document has no reason"]


def test_a_wrong_observation_fails_with_its_reasons(tmp_path: Path) -> None:
    act = "return {**ANSWERS[vector['id']], 'deliveries': []}"
    run = went(tmp_path, ON_SECOND.format(act))
    assert run.outcomes[1] is Outcome.FAIL
    assert run.reasons == ['deliveries of m-1: expected one each to ["task:t-4a8cce"], got []']


def test_lines_end_at_lf_and_may_hold_every_other_line_break(tmp_path: Path) -> None:
    body = "one\r\ntwo\u2028three\u2029four\x85five"
    raw = vector(IDS[0], then={"messages": [{"id": "$s1", "body": body}]})
    raw["when"][0]["input"]["body"] = body
    behaviour = (
        "def say(line):\n    os.write(1, (json.dumps(line, ensure_ascii=False) + '\\r\\n').encode())\n"
        "def answer(vector):\n"
        "    stored = ANSWERS[vector['id']]\n"
        "    stored['messages'][0]['body'] = vector['when'][0]['input']['body']\n"
        "    return stored\n"
    )
    run = Went(adapter(tmp_path, ANSWERS, behaviour=behaviour), judged=vectors(raw))
    assert run.outcomes == [PASS]


def test_the_runner_writes_no_line_break_inside_a_line(tmp_path: Path) -> None:
    """An adapter whose reader breaks at U+2028 and the like still reads whole lines."""
    raw = vector(IDS[0], title="a", then={})
    raw["when"][0]["input"]["body"] = "\u2028 \u2029 \x85 \x0b \x0c é 📬"
    behaviour = (
        "def lines():\n    while chunk := os.read(0, 1 << 20):\n        yield from chunk.decode().splitlines()\n"
        "sys.stdin = lines()\n"
    )
    run = Went(adapter(tmp_path, ANSWERS, behaviour=behaviour), judged=vectors(raw))
    assert run.outcomes == [PASS]


def test_the_adapter_gets_the_vector_without_then_and_with_the_runners_symbols_replaced(
    tmp_path: Path,
) -> None:
    raw = vector(IDS[0], then={"noDeliveries": ["$s1"]})
    raw["when"] = [
        {
            "op": "send",
            "as": {"address": "$system", "canDecide": True},
            "input": {"body": "$s1 of $system", "data": {"type": "$unimplementedGateType"}},
        }
    ]
    behaviour = (
        "def answer(vector):\n"
        "    sys.stderr.write(json.dumps(vector) + '\\n')\n"
        "    return {**ANSWERS[vector['id']], 'deliveries': []}"
    )
    run = Went(adapter(tmp_path, ANSWERS, behaviour=behaviour), judged=vectors(raw))
    assert run.outcomes == [PASS]
    [sent] = run.log
    assert '"then"' not in sent
    assert '"address": "agent:host"' in sent
    assert '"body": "$s1 of agent:host"' in sent
    assert '"type": "memory"' in sent


def test_the_log_is_passed_on_line_by_line_however_it_is_written(tmp_path: Path) -> None:
    behaviour = "os.write(2, b'one\\ntw'); os.write(2, b'o\\n\\xff\\n' + b'x' * 10000 + b'\\nlast')"
    run = went(tmp_path, behaviour)
    assert [run.log[0], run.log[1], run.log[2], run.log[-1]] == ["one", "two", "\ufffd", "last"]
    assert "".join(run.log[3:-1]) == "x" * 10000


def test_what_the_adapter_started_ends_with_it(tmp_path: Path) -> None:
    behaviour = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "sys.stderr.write(f'{child.pid}\\n')\n" + ON_SECOND.format("time.sleep(60)")
    )
    run = went(tmp_path, behaviour, seconds=1.0)
    for pid in map(int, run.log):
        assert is_gone(pid)


def is_gone(pid: int) -> bool:
    """Whether a process ended, or soon does: whoever adopted it may take a moment to notice."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").exists() and " Z " in Path(f"/proc/{pid}/stat").read_text():
                return True
            time.sleep(0.01)
            continue
        return True
    return False


# Hello and bye


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("exit 3", "asked for its hello, the adapter exited with 3"),
        ("kill -9 $$", "asked for its hello, the adapter was ended by SIGKILL"),
        ("no-such-program-anywhere", "asked for its hello, the adapter exited with 127"),
        ("echo Welcome", "asked for its hello, the adapter wrote a line that is not JSON"),
        ("printf '{'", "in the middle of a line"),
        ("echo '{}'", "the adapter's hello is malformed: the document has no dmp"),
        ("echo '[]'", "the adapter's hello is malformed: the document is not an object"),
    ],
)
def test_a_run_without_a_proper_hello_cannot_start(command: str, told: str) -> None:
    with pytest.raises(CannotRun) as refused:
        Went(command)
    assert told in str(refused.value)


def test_an_adapter_that_never_says_hello_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vectors.runner.running.PATIENCE", 0.2)
    with pytest.raises(CannotRun, match=r"wrote nothing within 0\.2 s"):
        Went("sleep 60", seconds=0.2)


def test_a_short_time_for_vectors_does_not_shorten_the_hello(tmp_path: Path) -> None:
    run = Went(adapter(tmp_path, behaviour="time.sleep(0.3)"), seconds=0.1, judged=[])
    assert run.farewell is None


@pytest.mark.parametrize(
    ("behaviour", "told"),
    [
        ("", None),
        ("import atexit; atexit.register(os._exit, 7)", "exited with 7, where it must exit with 0"),
        ("sys.exit = lambda code: os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("sys.exit = lambda code: time.sleep(60)", "did not exit within"),
        ("sys.exit = lambda code: (print('x' * 200_000, flush=True), os._exit(0))", None),
    ],
)
def test_an_adapter_exits_with_0_when_told_bye(
    behaviour: str, told: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "time.sleep" in behaviour:
        monkeypatch.setattr("vectors.runner.running.PATIENCE", 2.0)
    farewell = Went(adapter(tmp_path, behaviour=behaviour), seconds=2.0, judged=[]).farewell
    assert (farewell is None) if told is None else (told in str(farewell))


# What is left out


@pytest.mark.parametrize(
    ("hello", "raw", "told"),
    [
        ({"classes": ["envelope"]}, vector(), "does not declare the class host-core"),
        ({"profiles": ["core"]}, vector(profile="dispatch"), "does not declare the profile dispatch"),
        (
            {"capabilities": []},
            vector(level="MAY", capability="muted-senders"),
            "does not declare the capability muted-senders",
        ),
    ],
)
def test_a_vector_of_what_is_not_declared_is_skipped(
    hello: dict[str, Any], raw: dict[str, Any], told: str, tmp_path: Path
) -> None:
    run = Went(adapter(tmp_path, hello={**HELLO, **hello}), judged=vectors(raw))
    assert run.outcomes == [Outcome.SKIPPED]
    assert told in run.reasons[0]


def test_a_declared_capability_is_tested(tmp_path: Path) -> None:
    raw = vector(IDS[0], level="MAY", capability="muted-senders")
    assert Went(adapter(tmp_path, ANSWERS), judged=vectors(raw)).outcomes == [PASS]


def test_a_vector_about_an_unimplemented_gate_type_is_not_applicable_when_there_is_none(
    tmp_path: Path,
) -> None:
    raw = vector(IDS[0])
    raw["when"][0]["input"]["data"] = {"type": "$unimplementedGateType"}
    run = Went(adapter(tmp_path, hello={**HELLO, "gateTypes": GATE_TYPES}), judged=vectors(raw))
    assert run.outcomes == [Outcome.NOT_APPLICABLE]


def test_the_unimplemented_gate_type_is_the_first_in_the_registrys_order(tmp_path: Path) -> None:
    declared = [each for each in GATE_TYPES if each not in ("scope", "memory")]
    raw = vector(IDS[0], then={"messages": [{"id": "$s1", "data": {"type": "scope"}}]})
    raw["when"][0]["input"]["data"] = {"type": "$unimplementedGateType"}
    answers = [observation(IDS[0], messages=[message("m-1", data={"type": "scope"})])]
    behaviour = (
        "def answer(vector):\n"
        "    assert vector['when'][0]['input']['data'] == {'type': 'scope'}\n"
        "    return ANSWERS[vector['id']]"
    )
    command = adapter(tmp_path, answers, behaviour=behaviour, hello={**HELLO, "gateTypes": declared})
    assert Went(command, judged=vectors(raw)).outcomes == [PASS]
