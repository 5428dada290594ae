"""Outliers among peers on generated groups: how often a healthy peer is called an outlier, and a slow one found.

A part of `./dev bench comparison`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from iotide_server.statistics.peers import compared_peers

SLOW: Final = 0.8
DAY_SPREAD: Final = 0.05
GROUPS: Final = 300
UNJUDGED_GROUPS: Final = 100


@dataclass(frozen=True, slots=True)
class Group:
    """Kind of group; spreads are standard deviations of logarithms, between peers and between runs.

    Attributes:
        campaigns: of each peer, `runs` in each. Each campaign has a day of its own.
        is_common: each campaign measures all peers; else one.
        is_judged: the limits apply to it.
    """

    peers: int
    spread: float
    campaigns: int = 10
    runs: int = 1
    noise: float = 0.03
    is_common: bool = True
    is_judged: bool = False


_SPREADS: Final = (0.02, 0.03)
_JUDGED: Final = tuple(Group(peers, spread, is_judged=True) for peers in (8, 16, 64) for spread in _SPREADS)
GROUPS_OF_PEERS: Final = (
    *_JUDGED,
    *(replace(group, campaigns=1, runs=10) for group in _JUDGED),
    *(Group(3, spread) for spread in (0.0, *_SPREADS)),
    Group(4, 0.03),
    Group(8, 0.0, noise=0.1),
    Group(8, 0.05),
    Group(64, 0.05),
    *(Group(peers, 0.02, campaigns=4, is_common=False) for peers in (3, 8, 64)),
    *(Group(peers, 0.02, campaigns=1, runs=4, is_common=False) for peers in (3, 8, 64)),
)


def peers_figures(random: np.random.Generator) -> tuple[float, float]:
    """Print a table; return the largest share of groups with a false outlier, and the smallest share found at 16."""
    table = Table("peers", "spread", "campaigns", "runs", "noise", "days", "false", "-20 % found")
    most_false, least_found = 0.0, 1.0
    for group in GROUPS_OF_PEERS:
        false, found = rates(group, random, GROUPS if group.is_judged else UNJUDGED_GROUPS)
        days = "common" if group.is_common else "own"
        spreads = f"{group.spread:.0%}", f"{group.campaigns}", f"{group.runs}", f"{group.noise:.0%}"
        table.add_row(f"{group.peers}", *spreads, days, f"{false:.3f}", f"{found:.3f}")
        if group.is_judged:
            most_false = max(most_false, false)
            least_found = min(least_found, found) if group.peers == 16 else least_found
    Console().print(table)
    return most_false, least_found


def rates(group: Group, random: np.random.Generator, groups: int) -> tuple[float, float]:
    """Return the share of groups with a false outlier, and that of groups whose only slow peer is found."""
    false = sum(bool(odd(runs)) for runs in drawn(group, random, groups)) / groups
    found = sum("0" in odd(runs) for runs in drawn(group, random, groups, slow=1)) / groups
    return false, found


def odd(runs: Mapping[str, Mapping[int, list[float]]]) -> set[str]:
    """Return the outliers that the product finds."""
    found = compared_peers(runs)
    return set() if found is None else {name for name, peer in found.members.items() if peer.is_odd}


def drawn(
    group: Group, random: np.random.Generator, groups: int, slow: int = 0
) -> Iterator[dict[str, dict[int, list[float]]]]:
    """Draw groups; in each, the first `slow` peers are slow."""
    for _ in range(groups):
        levels = random.normal(0, group.spread, group.peers)
        levels[:slow] += np.log(SLOW)
        days = random.normal(0, DAY_SPREAD, (1 if group.is_common else group.peers, group.campaigns))
        noise = random.normal(0, group.noise, (group.peers, group.campaigns, group.runs))
        values = 100 * np.exp(levels[:, None, None] + days[:, :, None] + noise)
        yield {
            str(peer): {
                number + (0 if group.is_common else peer * group.campaigns): own.tolist()
                for number, own in enumerate(campaigns)
            }
            for peer, campaigns in enumerate(values)
        }
