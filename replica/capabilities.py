"""What this build can do that not every one can, as it announces it to teammates (federation wire 4.1, 8.1)."""

from typing import Final

RELAY: Final = "relay"
"""It can meet its team at a relay."""

CAPS: Final = (RELAY,)
