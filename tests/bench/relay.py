"""What a relay carries: `python -m tests.bench.relay`, which is `dmp relay bench` with figures that it aims at.

A thousand connected replicas of a hundred teams publish 2,000 ops a second through one relay process; then a few
publish as fast as it goes, beside a server that only does what every relay must. Nothing fails here.
"""

import argparse

from replica.cli import main as cli


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    cli.run(["relay", "bench"])


if __name__ == "__main__":
    main()
