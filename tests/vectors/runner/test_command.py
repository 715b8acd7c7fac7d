"""`dmp-conformance` as its users run it: flags, exit codes, files and interruptions (section 12.4.9)."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.vectors.runner.samples import HELLO, adapter, observation, vector, write_kit
from tests.vectors.runner.test_running import is_gone
from vectors.registries import registries
from vectors.runner.document import VERSION
from vectors.runner.files import OWN, read_vectors

IDS = ["env.sample.a", "core.sample.b", "core.sample.c", "a2a.sample.d"]
KIT = [*(vector(id) for id in IDS), vector("core.sample.e", profile="dispatch", then={})]
ULID = "01j8g7z0000000000000000000"
PATIENCE = 60


def dispatch_answer() -> dict[str, Any]:
    answer = observation("core.sample.e", deliveries=[], calls=[])
    answer["steps"][0]["result"]["message"] = answer["messages"][0]["id"] = f"m-{ULID}"
    return answer


ANSWERS = [*(observation(id) for id in IDS), dispatch_answer()]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}


class Bench:
    """A folder with a kit, and the command run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kit = write_kit(folder / "kit", KIT)
        self.report = folder / "dmp-conformance.json"

    def adapter(self, behaviour: str = "", **hello: Any) -> str:
        return adapter(self.folder, ANSWERS, behaviour=behaviour, hello={**HELLO, **hello})

    def run(self, *arguments: object, kit: bool = True) -> subprocess.CompletedProcess[str]:
        vectors = ["--vectors", str(self.kit)] if kit else []
        return subprocess.run(
            [sys.executable, "-m", "vectors.runner.main", *vectors, *map(str, arguments)],
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def read_report(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.report.read_text(encoding="utf-8"))
        return read

    def written(self, name: str, value: Any) -> Path:
        path = self.folder / name
        path.write_text(json.dumps(value))
        return path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_default_claim_is_core_and_the_report_has_its_name(bench: Bench) -> None:
    done = bench.run("--adapter", bench.adapter())
    assert (done.returncode, done.stderr) == (0, "")
    assert "sample implements the Dispatch Messaging Protocol (DMP) 1.0 (Core)\n" in done.stdout
    report = bench.read_report()
    assert list(report) == [
        "dmp",
        "kit",
        "implementation",
        "claims",
        "classes",
        "vectors",
        "declaredDeviations",
        "runner",
        "date",
    ]
    assert report["claims"] == {"core": "pass"}
    assert [each["id"] for each in report["vectors"]] == IDS[:3]
    assert (report["kit"], report["declaredDeviations"]) == (VERSION, [])


def test_claims_may_be_repeated_and_files_named(bench: Bench) -> None:
    permanent = [each.value for each in registries().gate_types if each.status == "permanent"]
    paths = (bench.folder / "out.json", bench.folder / "out.xml")
    claims = ("--claim", "dispatch-profile", "--claim", "core", "--claim", "core")
    done = bench.run(
        "--adapter", bench.adapter(gateTypes=permanent), *claims, "--report", paths[0], "--junit", paths[1]
    )
    assert done.returncode == 0, done.stdout
    assert "(DMP) 1.0 (Core, Dispatch profile)\n" in done.stdout
    assert json.loads(paths[0].read_text())["claims"] == {"core": "pass", "dispatch-profile": "pass"}
    assert len(ElementTree.parse(paths[1]).findall("testsuite/testcase")) == 4
    assert not bench.report.exists()


def test_a_failing_claim_exits_1_and_tells_why(bench: Bench) -> None:
    worse = "def answer(vector):\n    return {**ANSWERS[vector['id']], 'deliveries': []}"
    done = bench.run("--adapter", bench.adapter(worse))
    assert done.returncode == 1
    assert "fail  MUST  core.sample.b\n" in done.stdout
    assert "core: fail\n  3 of its MUST vectors did not pass\n" in done.stdout
    assert "implements" not in done.stdout
    assert bench.read_report()["claims"] == {"core": "fail"}


def test_this_kits_own_vectors_are_the_default(bench: Bench) -> None:
    done = bench.run("--adapter", bench.adapter(), "--claim", "envelope", kit=False)
    assert done.returncode == 1
    own = [
        each.id for each in read_vectors(*OWN) if (each.vector_class, each.profile) == ("envelope", "core")
    ]
    assert [each["id"] for each in bench.read_report()["vectors"]] == own


def test_an_a2a_claim_on_vectors_alone_exits_0_and_is_not_quoted(bench: Bench) -> None:
    done = bench.run("--adapter", bench.adapter(), "--claim", "a2a-binding", "--vectors-only")
    assert done.returncode == 0
    assert "a2a-binding: vectors-only" in done.stdout
    assert "implements" not in done.stdout
    assert bench.read_report()["claims"] == {"a2a-binding": "vectors-only"}


def test_an_a2a_claim_with_an_attested_run_passes(bench: Bench) -> None:
    run = {
        "commit": "263b9cfaf16a554bdfb166a7ba5b67716e946349",
        "transport": "HTTP+JSON",
        "level": "MUST",
        "result": "pass",
        "deviations": ["bounded-blocking-wait"],
    }
    attested = bench.written("tck.json", run)
    done = bench.run("--adapter", bench.adapter(), "--claim", "a2a-binding", "--tck-attest", attested)
    assert done.returncode == 0
    assert "1.0 (A2A binding)\n" in done.stdout
    assert bench.read_report()["a2a"] == {**run, "attested": True}


def test_declared_deviations_are_reported_and_quoted(bench: Bench) -> None:
    declared = [{"section": "13.8", "summary": "nothing is deleted"}]
    done = bench.run("--adapter", bench.adapter(), "--deviations", bench.written("d.json", declared))
    assert done.returncode == 0
    assert "1.0 (Core) with declared deviations\n" in done.stdout
    assert bench.read_report()["declaredDeviations"] == declared


def test_a_run_that_cannot_start_exits_1_and_leaves_the_last_report(bench: Bench) -> None:
    bench.report.write_text("the last one")
    done = bench.run("--adapter", "echo Welcome")
    assert done.returncode == 1
    assert done.stderr.startswith(
        "dmp-conformance: the run cannot complete: asked for its hello, the adapter"
    )
    assert bench.report.read_text() == "the last one"


def test_a_report_that_cannot_be_written_exits_1(bench: Bench) -> None:
    done = bench.run("--adapter", bench.adapter(), "--report", "/dev/full")
    assert done.returncode == 1
    assert "the run cannot complete" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--adaptor", "x"], "No such option"),
        (["--claim", "dispatch"], "'dispatch' is not one of"),
        (["--claim", "relay"], "'relay' is not one of"),
        (["--timeout-ms", "0"], "--timeout-ms"),
        (["--timeout-ms", "86400001"], "--timeout-ms"),
        (["--timeout-ms", "soon"], "--timeout-ms"),
        (["--vectors", "nowhere"], "nowhere: cannot be read"),
        (["--deviations", "nowhere.json"], "nowhere.json: cannot be read"),
        (["--tck-attest", "nowhere.json"], "nowhere.json: cannot be read"),
        (["--deviations", "section.json"], "section.json: [0].section is not one of"),
        (["--tck-attest", "tck.json"], "tck.json: deviations[0] is not one of bounded-blocking-wait"),
        (["--report", "nowhere/report.json"], "no file can be written there"),
        (["--junit", "kit"], "no file can be written there"),
        (["--report", "same", "--junit", "./same"], "a name of its own"),
        (["more"], "unexpected extra argument"),
    ],
)
def test_a_usage_error_exits_2_before_any_adapter_runs(bench: Bench, arguments: list[str], told: str) -> None:
    bench.written("section.json", [{"section": "6.1", "summary": "x"}])
    run = {"commit": "c", "transport": "t", "level": "l", "result": "r", "deviations": ["mine"]}
    bench.written("tck.json", run)
    done = bench.run("--adapter", "touch started", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.startswith("dmp-conformance: ")
    assert not (bench.folder / "started").exists()
    assert not bench.report.exists()


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_stop_no_run(bench: Bench, closed: str) -> None:
    words = [sys.executable, "-m", "vectors.runner.main", "--vectors", bench.kit, "--adapter"]
    command = shlex.join([*map(str, words), bench.adapter("sys.stderr.write('ready\\n' * 20_000)")])
    done = subprocess.run(
        f"{command} {closed}", shell=True, cwd=bench.folder, env=environment(), timeout=PATIENCE, check=False
    )
    assert done.returncode == 0
    assert bench.read_report()["claims"] == {"core": "pass"}


def test_a_summary_that_cannot_be_written_exits_1_in_a_sentence(bench: Bench) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "vectors.runner.main",
                "--vectors",
                bench.kit,
                "--adapter",
                bench.adapter(),
            ],
            cwd=bench.folder,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "dmp-conformance: the run cannot complete: No space left on device\n"
    assert bench.read_report()["claims"] == {"core": "pass"}


def test_an_adapter_must_be_named(bench: Bench) -> None:
    assert bench.run().returncode == 2


def test_a_malformed_vector_file_is_refused_before_any_adapter_runs(bench: Bench) -> None:
    """Even one of a class that no claim judges."""
    write_kit(bench.kit, [*KIT, vector("a2a.sample.bad", level="PERHAPS")])
    done = bench.run("--adapter", "touch started")
    assert done.returncode == 2
    assert "a2a-binding/sample.json: vectors[1].level is not one of" in done.stderr
    assert not (bench.folder / "started").exists()


def test_the_adapters_log_is_passed_on_and_never_acts_on_the_terminal(bench: Bench) -> None:
    done = bench.run("--adapter", bench.adapter("sys.stderr.write('\\x1b[2Jready\\n')"))
    assert done.stderr == "adapter: \\x1b[2Jready\n"
    assert done.returncode == 0


def test_an_adapter_that_ends_badly_is_warned_of_and_fails_nothing(bench: Bench) -> None:
    done = bench.run("--adapter", bench.adapter("import atexit; atexit.register(os._exit, 7)"))
    assert done.returncode == 0
    assert (
        done.stderr
        == "dmp-conformance: warning: told bye, the adapter exited with 7, where it must exit with 0\n"
    )


@pytest.mark.parametrize("interruption", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_adapter_and_writes_no_half_report(
    bench: Bench, interruption: signal.Signals
) -> None:
    hangs = (
        "import subprocess\n"
        "def answer(vector):\n"
        "    child = subprocess.Popen(['sleep', '600'])\n"
        "    sys.stderr.write(f'{os.getpid()} {child.pid}\\n')\n"
        "    sys.stderr.flush()\n"
        "    time.sleep(600)\n"
    )
    arguments = ["--vectors", bench.kit, "--adapter", bench.adapter(hangs), "--timeout-ms", 600_000]
    with subprocess.Popen(
        [sys.executable, "-m", "vectors.runner.main", *map(str, arguments)],
        cwd=bench.folder,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        pids = process.stderr.readline().removeprefix("adapter: ").split()
        process.send_signal(interruption)
        assert process.wait(PATIENCE) == 130
    assert len(pids) == 2
    assert all(is_gone(int(pid)) for pid in pids)
    assert not bench.report.exists()


def test_the_time_of_a_vector_is_in_milliseconds(bench: Bench) -> None:
    slow = "def answer(vector):\n    time.sleep(600)"
    done = bench.run("--adapter", bench.adapter(slow), "--timeout-ms", "50")
    assert done.returncode == 1
    reasons = [each["reasons"] for each in bench.read_report()["vectors"]]
    assert reasons == [["the adapter wrote nothing within 0.05 s"]] * 3
