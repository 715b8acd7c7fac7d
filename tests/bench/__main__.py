"""Every measurement, one after another: `make bench`, or `python -m tests.bench`.

Each prints ratios within its own run; absolute figures are this machine's and are only recorded.
"""

from tests.bench import a2a, api, audit, chain, crowd, host, large, mail, relay, roster, send, sync, watching


def main() -> None:
    """Run them all."""
    for each in (chain, roster, audit, host, api, a2a, large, send, mail, sync, relay, watching, crowd):
        each.main()


if __name__ == "__main__":
    main()
