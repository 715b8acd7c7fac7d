"""What every transport promises, as tests that a transport passes or fails by name.

    class TestMine(TransportContract):
        @pytest.fixture
        def far(self, tmp_path): return MyFarSide(tmp_path)

`MyFarSide` is a `FarSide`: a far side of one's own, fresh for each test, and transports to it. A far side that keeps
whatever anybody puts there has `WritableFarSide` and `WritableContract`, which asks more. Importing this takes pytest.
"""

from transports.contract.author import Author
from transports.contract.far import FarSide, WritableFarSide
from transports.contract.suite import TransportContract
from transports.contract.writable import WritableContract

__all__ = ["Author", "FarSide", "TransportContract", "WritableContract", "WritableFarSide"]
