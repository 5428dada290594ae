"""Every part killed with -9 at every moment of a run, and at random ones: `./dev test-faults`."""

import random
from collections import Counter
from itertools import product

import pytest
from faults import LOADS, RUN_SECONDS, Aftermath, Moment, Victim, live_through
from rig import Rig

RANDOM_ROUNDS = 30

pytestmark = [pytest.mark.faults, pytest.mark.timeout(240)]


# Victims change fastest, so that the server's supervisor sees each part live for a while before it dies again.
@pytest.mark.parametrize(("moment", "victim"), list(product(Moment, Victim)))
def test_every_moment(rig: Rig, tally: Counter[str], moment: Moment, victim: Victim) -> None:
    count(tally, victim, live_through(rig, victim, moment))


@pytest.mark.parametrize("number", range(RANDOM_ROUNDS))
def test_random_moments(rig: Rig, tally: Counter[str], seed: int, number: int) -> None:
    chance = random.Random(f"{seed}-{number}")  # noqa: S311 - no secret
    victim, moment = chance.choice(list(Victim)), chance.choice(list(Moment))
    workload, delay_seconds = chance.choice(list(LOADS)), chance.uniform(0, RUN_SECONDS / 2)
    count(tally, victim, live_through(rig, victim, moment, workload=workload, delay_seconds=delay_seconds))


def count(tally: Counter[str], victim: Victim, aftermath: Aftermath) -> None:
    tally[f"killed {victim}"] += 1
    tally[f"runs {aftermath.run['state']}"] += 1
    tally["loads started"] += aftermath.load_starts
