"""How soon a lost connection is sought, and when it is left to another."""

from dataclasses import dataclass, field

from tenacity import AsyncRetrying, RetryCallState

from transports.relay.client.pacing import LONGEST_PAUSE, STEADY_SECONDS, Pacing


@dataclass
class Days:
    """A clock and randomness that a test sets."""

    now: float = 0.0
    chance: float = 0.5
    pacing: Pacing = field(init=False)

    def __post_init__(self) -> None:
        self.pacing = Pacing(lambda: self.now, lambda: self.chance)

    def connection(self, seconds: float, *, replaced: bool = False) -> None:
        self.pacing.opened()
        self.now += seconds
        self.pacing.lost(replaced=replaced)


def attempt(number: int) -> RetryCallState:
    state = RetryCallState(AsyncRetrying(), None, (), {})
    state.attempt_number = number
    return state


def test_pauses_double_from_a_second_to_a_minute() -> None:
    pacing = Days().pacing
    pauses = [pacing.first_pause(), *(pacing.next_pause(attempt(number)) for number in range(1, 9))]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_pauses_spread_out() -> None:
    found = []
    for chance in (0.0, 0.999):
        found.append(Days(chance=chance).pacing.first_pause())
    assert found == [0.5, 1.499]


def test_connections_that_end_soon_are_sought_ever_later() -> None:
    days = Days()
    pauses = []
    for _ in range(8):
        days.connection(1)
        pauses.append(days.pacing.first_pause())
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    days.connection(STEADY_SECONDS)
    assert days.pacing.first_pause() == 1


def test_one_that_is_replaced_comes_back_at_once_and_then_ever_later() -> None:
    days = Days()
    held = []
    for _ in range(9):
        days.connection(1, replaced=True)
        held.append(days.pacing.held)
        days.now += LONGEST_PAUSE
        assert days.pacing.held == 0
    assert held == [0, 1, 2, 4, 8, 16, 32, 60, 60]
    days.connection(STEADY_SECONDS, replaced=True)
    assert days.pacing.held == 0
