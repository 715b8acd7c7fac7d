"""What a pass with nothing new costs, by how much is on the branch: `python -m tests.bench.sync`.

Two teams on two branches of bare repositories on one disk: one branch holds 1,000 ops, the other 100,000. A
replica that has applied all of it syncs again and again over git, each pass with a transport of its own as
`dmp sync` has. The ratio of the two medians should be at most 1.3. Nothing fails here.
"""

import argparse
import os
import subprocess
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from crypto.op import to_line
from replica.sync import SyncPass
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, world
from transports.base import Transport
from transports.git.transport import GitTransport
from transports.remotes import Source, parse_remote

TARGET = 1.3
LINES_A_PUSH = 1_000


def git_transport(bare: Path, machine: Machine) -> Transport:
    """A transport as a fresh process opens one."""
    return GitTransport(parse_remote(str(bare), Source.TYPED), machine.directory.root / "git" / "clone")


def team_on(made: World, folder: Path, ops: int) -> tuple[Machine, Path]:
    """A team of two whose branch holds `ops` of ada's ops; bob has applied them all."""
    bare = folder / "team.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    ada, bob = made.machine("ada"), made.machine("bob")
    for machine in (ada, bob):
        machine.transport = git_transport(bare, machine)
    commands.found_team(ada.pass_(), "Orchard")
    commands.join(bob.pass_(), commands.invite(ada.pass_(), "bob").encode())
    ada.sync()
    forger = Forger(ada)
    ada.transport.refresh()
    for start in range(0, ops, LINES_A_PUSH):
        count = min(LINES_A_PUSH, ops - start)
        lines = [
            to_line(forger.op("task", body={"task": f"t-{n:06x}", "note": "x" * 300})) for n in range(count)
        ]
        ada.transport.publish(ada.me, lines)
    ada.transport.close()
    while bob.sync().more:
        pass
    bob.sync()
    bob.transport.close()
    return bob, bare


def idle_pass(machine: Machine, bare: Path) -> float:
    """The seconds that a pass with nothing new takes."""
    transport = git_transport(bare, machine)
    start = time.perf_counter()
    SyncPass(machine.node, transport).run()
    spent = time.perf_counter() - start
    transport.close()
    return spent


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        pairs = []
        for ops in (options.small, options.large):
            place = Path(folder) / str(ops)
            place.mkdir()
            os.environ["XDG_STATE_HOME"] = str(place)
            with world(place) as made:
                bob, bare = team_on(made, place, ops)
                pairs.append([idle_pass(bob, bare) for _ in range(options.rounds)])
        small, large = (median(each) * 1000 for each in pairs)
        print(f"sync: a pass with nothing new takes {small:.1f} ms at {options.small:,} ops on the branch")
        print(
            f"sync: and {large:.1f} ms at {options.large:,}: ratio {large / small:.2f} (target {TARGET} at most)"
        )


if __name__ == "__main__":
    main()
