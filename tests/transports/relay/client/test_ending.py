"""Connections of the client that end, over real sockets and a network that breaks."""

import gc
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transports.ops import ADA, Chain, seq
from tests.transports.relay.client.me import lines, transport_to
from tests.transports.relay.client.standin import Logs, Network, StandIn, answered
from transports.base import Transport, Unreachable
from transports.relay import frames


def test_a_cut_connection_is_made_again_by_the_next_call(
    network: Network, logs: Logs, tmp_path: Path
) -> None:
    near = transport_to(network.url, tmp_path)
    near.refresh()
    ada = Chain(ADA)
    near.publish(ADA, ada.lines(1))
    network.cut()
    for _ in range(2):  # the cut may be noticed only by the first one
        try:
            near.refresh()
            break
        except Unreachable:
            continue
    near.publish(ADA, ada.lines(1))
    assert [seq(raw) for raw in logs.lanes[ADA]] == [1, 2]
    near.close()


def test_a_half_open_connection_is_found_out_by_a_question(network: Network, tmp_path: Path) -> None:
    near = transport_to(network.url, tmp_path, request_seconds=0.25)
    near.refresh()
    network.hold()
    with pytest.raises(Unreachable, match="no answer within"):
        near.refresh()
    near.close()


def test_a_half_open_connection_is_found_out_by_silence(
    network: Network, relay: StandIn, tmp_path: Path
) -> None:
    near = transport_to(network.url, tmp_path, heartbeat_seconds=0.2, request_seconds=0.5)
    near.refresh()
    network.hold()
    assert near.watch(20)  # nobody asked anything, and there is another connection
    near.refresh()
    near.close()


def test_a_slow_relay_is_given_up_and_its_late_answer_is_nobody_s(
    relay: StandIn, logs: Logs, impatient: Transport
) -> None:
    impatient.refresh()
    relay.answer = answered(logs, lambda frame: [] if isinstance(frame, frames.Pull) else None)
    with pytest.raises(Unreachable, match="no answer"):
        impatient.refresh()
    relay.answer = logs
    impatient.refresh()
    assert lines(impatient) == []


def test_a_replaced_connection_comes_back_once_and_then_holds_back(relay: StandIn, tmp_path: Path) -> None:
    near = transport_to(relay.url, tmp_path, random=lambda: 60.0)  # pauses of a minute
    replaced = frames.write(frames.Refused(frames.Why.REPLACED.reason("by a later connection")))
    near.refresh()
    relay.say(replaced)
    assert near.watch(20)
    near.refresh()
    assert relay.connections == 2
    relay.say(replaced)
    assert not near.watch(0.2)
    with pytest.raises(Unreachable, match="another connection of this same replica") as error:
        near.refresh()
    assert "one `dmp` at a time" in error.value.hint
    assert relay.connections == 2
    near.close()


def test_being_revoked_while_connected_is_told(relay: StandIn, logs: Logs, near: Transport) -> None:
    near.refresh()
    gone = frames.write(frames.Refused(frames.Why.REVOKED.reason("by ada")))
    relay.answer = answered(logs, lambda frame: [gone] if isinstance(frame, frames.Auth) else None)
    relay.say(gone)
    assert near.watch(20)
    with pytest.raises(Unreachable, match="revoked this replica"):
        near.refresh()


def socket_warnings(story: Callable[[], None]) -> list[str]:
    """What is told of sockets that nobody closed, once a story is over."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        story()
        gc.collect()
    return [str(each.message) for each in told]


def test_what_the_relay_leaves_unread_keeps_no_socket_open(network: Network, tmp_path: Path) -> None:
    many = {f"a{number}-00000001": 1 for number in range(200_000)}

    def story() -> None:
        near = transport_to(network.url, tmp_path, request_seconds=0.25)
        near.refresh()
        network.hold()
        with pytest.raises(Unreachable, match="no answer"):
            next(iter(near.pull(many)))
        near.close()

    assert socket_warnings(story) == []
