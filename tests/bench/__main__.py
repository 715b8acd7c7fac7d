"""Every measurement, one after another: `make bench`, or `python -m tests.bench`.

Each prints ratios within its own run; absolute figures are this machine's and are only recorded.
"""

from tests.bench import api, audit, chain, crowd, host, large, mail, relay, roster, send, sync, watching


def main() -> None:
    """Run them all."""
    for each in (chain, roster, audit, host, api, large, send, mail, sync, relay, watching, crowd):
        each.main()


if __name__ == "__main__":
    main()
