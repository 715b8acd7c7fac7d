"""Fixtures every room's tests share."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

PUBLIC_VECTORS = "DMP_PUBLIC_VECTORS"

pytest.register_assert_rewrite("transports.contract")  # before any test imports it

# A machine that has much else to do is slow at any example, and at making them: that is no fault of what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# A shell lets what it runs in the background ignore interrupts, and so would every process that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def public_vectors() -> Path:
    """The folder that holds `kit/vectors` and `crypto-vectors`; skips where the machine has none."""
    named = os.environ.get(PUBLIC_VECTORS)
    if not named:
        pytest.skip(f"NOT RUN against the public vectors: {PUBLIC_VECTORS} names no folder")
    folder = Path(named)
    if not (folder / "crypto-vectors").is_dir():
        pytest.fail(f"{PUBLIC_VECTORS}={named} holds no crypto-vectors folder")
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly, after the results, that the public vectors were not run."""
    if not os.environ.get(PUBLIC_VECTORS):
        terminalreporter.section("public vectors")
        terminalreporter.line(
            f"NOT RUN: set {PUBLIC_VECTORS} to the folder with kit/vectors and crypto-vectors"
        )
