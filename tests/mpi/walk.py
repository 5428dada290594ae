"""`./dev test-mpi`: one MPI program over four hosts by real agents and a real server, with faults.

The last line has jobs, kills, orphans and wrong totals. Exit status 0: every rule held.
"""

import argparse
import random
import sys
import time
from pathlib import Path
from typing import Final

from bring_up import StackError
from mpi import scenes
from mpi.hosts import hosts
from mpi.mpi_site import MpiSite, installed
from mpi.overhead import overhead
from mpi.tally import Tally, say
from rig import running_stack

HOSTS: Final = 4


class Walk:
    """All scenes of one MPI."""

    def __init__(self, site: MpiSite, tally: Tally, asked: argparse.Namespace, share: int) -> None:
        self._site, self._tally, self._asked, self._share = site, tally, asked, share
        self._chance = random.Random(f"{asked.seed} {site.cluster}")  # noqa: S311 - repeatable
        self._is_mpich = site.mpi.kind == "mpich"

    def whole(self) -> None:
        """Run all hosts and two of them, a few ranks and many."""
        scenes.run_whole(self._site, self._tally)
        scenes.run_whole(self._site, self._tally, nodes=2)
        scenes.many_ranks(self._site, self._tally)

    def iozone(self) -> None:
        """IOzone needs no MPI, so it runs once."""
        if self._is_mpich:
            scenes.iozone(self._site, self._tally)

    def misbehaving(self) -> None:
        scenes.misbehaving(self._site, self._tally)

    def strangers(self) -> None:
        """The greeting is that of Hydra's proxies."""
        if self._is_mpich:
            scenes.strangers(self._site, self._tally)

    def kills(self) -> None:
        for number in range(self._share, self._asked.kills, 2):
            victim = scenes.VICTIMS[number // 2 % len(scenes.VICTIMS)]
            scenes.killed(self._site, self._tally, victim, self._chance)
        scenes.run_whole(self._site, self._tally)

    def cuts(self) -> None:
        for number in range(self._share, self._asked.cuts, 2):
            scenes.cut(self._site, self._tally, self._site.hosts[number // 2 % HOSTS], self._chance)
        scenes.run_whole(self._site, self._tally)

    def overhead(self) -> None:
        if self._is_mpich and self._asked.pairs:
            overhead(self._site, self._tally, self._asked.pairs)


SCENES: Final = ("whole", "iozone", "misbehaving", "strangers", "kills", "cuts", "overhead")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev test-mpi", description=__doc__)
    parser.add_argument("--openmpi", type=Path, required=True, help="directory of its programs")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--cuts", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=20, help="runs by iotide and by hand")
    parser.add_argument("--mpi", action="append", choices=["mpich", "openmpi-5"], help="default: both")
    parser.add_argument("--scene", action="append", choices=SCENES, help="default: all")
    parser.add_argument("--seed", type=int, default=36)
    asked = parser.parse_args()
    tally = Tally()
    with running_stack() as stack, hosts(HOSTS, stack.directory, [stack.port, stack.redis_port]) as all_hosts:
        for share, mpi in enumerate(installed(asked.openmpi)):
            if asked.mpi and mpi.kind not in asked.mpi:
                continue
            site = MpiSite(stack, all_hosts, mpi)
            try:
                walk = Walk(site, tally, asked, share)
                for scene in SCENES:
                    if not asked.scene or scene in asked.scene:
                        began = time.monotonic()
                        try:
                            getattr(walk, scene)()
                        except StackError as error:
                            tally.require(False, f"{mpi.kind}, {scene}: {error}")
                        say(f"{mpi.kind}, {scene}: {time.monotonic() - began:.0f} s")
            finally:
                site.close()
    for end, count in sorted(tally.ends.items()):
        say(f"{count} x {end}")
    sys.stdout.write(
        f"mpi: jobs={tally.jobs} kills={tally.kills} cuts={tally.cuts} orphans={tally.orphans} "
        f"wrong_totals={tally.wrong_totals} wrong={len(tally.wrong)} "
        f"seconds_to_barrier_8={tally.seconds_to_barrier_8:.2f} seed={asked.seed}\n"
    )
    return int(bool(tally.wrong or tally.orphans or tally.wrong_totals))


if __name__ == "__main__":
    sys.exit(main())
