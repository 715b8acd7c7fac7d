"""`dmp relay serve` with less patience, so that a test need not wait as long as a person would."""

import sys

from replica.cli import main
from transports.relay.server import settings

if __name__ == "__main__":
    patient = settings.Settings

    def hasty(url: str, **given: object) -> settings.Settings:
        return patient(url, auth_ms=1_500, request_ms=1_500, body_ms=2_000, unread_ms=2_000, **given)  # type: ignore[arg-type]

    settings.Settings = hasty  # type: ignore[assignment,misc]
    sys.exit(main.run(sys.argv[1:]))
