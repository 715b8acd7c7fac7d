"""`python -m tests.simulation.served`: simulated teams for another program, a line of JSON each.

It reads `{"seed": N}` and answers `{"broken": TEXT}`, the promise that the seed's team broke, or null; any other line
with `{}`. It ends with its input.
"""

import json
import sys

from tests.simulation.acts import draw
from tests.simulation.run import run


def main() -> None:
    """Answer each line."""
    for line in sys.stdin:
        asked = json.loads(line)
        answer = {"broken": run(draw(asked["seed"])).broken} if "seed" in asked else {}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
