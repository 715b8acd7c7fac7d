"""Every measurement, one after another: `make bench`, or `python -m tests.bench`.

Each prints ratios within its own run; absolute figures are this machine's and are only recorded.
"""

from tests.bench import audit, chain, host, mail, roster, send, sync


def main() -> None:
    """Run them all."""
    for each in (chain, roster, audit, host, send, mail, sync):
        each.main()


if __name__ == "__main__":
    main()
