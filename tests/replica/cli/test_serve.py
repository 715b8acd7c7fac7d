"""`dmp serve` tells of an address that other machines reach."""

import pytest

from replica.cli.serve import is_loopback


@pytest.mark.parametrize(
    ("address", "alone"),
    [
        *(("127.0.0.1:1", True), ("127.9.9.9:1", True), ("[::1]:1", True), ("localhost:1", True)),
        *(("0.0.0.0:1", False), ("[::]:1", False), ("192.0.2.1:1", False), ("dmp.example:1", False)),
    ],
)
def test_an_address_of_this_machine_alone_is_told_from_others(address: str, alone: bool) -> None:
    assert is_loopback(address) is alone
