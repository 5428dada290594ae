"""Outliers among peers.

Plain Python: the API compares peers without loading numpy and scipy.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from math import exp, inf, isfinite, log, pi, sqrt
from statistics import NormalDist, median, median_low, variance
from typing import Final

from iotide_server.statistics.summary import robust_sigma

FEWEST_PEERS: Final = 3
FEWEST_RUNS: Final = 4
LEAST_RATIO: Final = 0.05  # of the group's median
MOST_FALSE_GROUPS: Final = 0.05

ASSUMED_SPREAD: Final = 0.025
"""Standard deviation of the logarithms of equal hardware, where the group is too small to show its own."""
ASSUMED_DAY: Final = 0.05
"""Standard deviation from day to day, where each peer was measured on one day of its own."""
ASSUMED_PEERS: Final = 8
"""The assumed spread counts as much as that of this many further peers."""


class PeerBasis(StrEnum):
    """Campaigns whose values are compared: those that measured the peers together, or each peer's own."""

    COMMON_CAMPAIGNS = "common_campaigns"
    OWN_CAMPAIGNS = "own_campaigns"


Runs = Mapping[str, Mapping[int, Sequence[float]]]
"""Values of runs by peer and campaign."""


@dataclass(frozen=True, slots=True)
class ComparedPeer:
    # of the campaigns compared; median: of its runs, in their unit
    run_count: int
    campaign_count: int
    median: float
    difference_ratio: float  # from the group's median, median over campaigns
    robust_z: float | None  # difference over the spread between peers, on logarithms; None where infinite
    is_odd: bool  # 5 % from the group's median at least, and beyond `z_limit`
    campaign_ratios: Mapping[int, float]  # by campaign: ratio of its median to the group's, minus 1


@dataclass(frozen=True, slots=True)
class ComparedPeers:
    members: Mapping[str, ComparedPeer]
    # in the unit of the values: the group's median by campaign, and that of all campaigns
    usual: Mapping[int, float]
    median: float
    z_limit: float
    basis: PeerBasis


def compared_peers(runs: Runs) -> ComparedPeers | None:
    """Compare each peer with its group, if three have at least four runs each.

    Each peer has one value for each campaign: the logarithm of the median of its runs, minus the group's median of
    that campaign. The median of these over campaigns is the peer's value. Hampel's identifier finds outliers by their
    distance from the median of all values, with a limit for the size of the group (Davies and Gather 1993, J. Am.
    Stat. Assoc. 88). If fewer than half of the peers have four runs in common campaigns, values are not relative to
    campaigns, so differences between days remain in the spread.

    None without enough runs, and where the group's median is 0.
    """
    own = _levels(runs, set().union(*runs.values()))
    centres = _centres(own)
    shared = _levels(runs, centres)
    if len(shared) >= max(FEWEST_PEERS, len(own) / 2):
        basis = PeerBasis.COMMON_CAMPAIGNS
        levels = {name: {at: level - centres[at] for at, level in of_peer.items()} for name, of_peer in shared.items()}
    else:
        basis = PeerBasis.OWN_CAMPAIGNS
        levels, centres = own, dict.fromkeys(set().union(*own.values()), 0.0)
    values = {name: median(of_peer.values()) for name, of_peer in levels.items()}
    if len(values) < FEWEST_PEERS or not isfinite(centre := median(values.values())):
        return None
    sigma = _spread(list(values.values()), centre, _assumed_variance(runs, levels, basis))
    limit = z_limit(len(values))
    members = {
        name: _peer(
            runs[name], {at: level - centre for at, level in levels[name].items()}, value - centre, sigma, limit
        )
        for name, value in values.items()
    }
    usual = {campaign: exp(level + centre) for campaign, level in centres.items()}
    return ComparedPeers(members, usual, median(usual.values()), limit, basis)


def z_limit(peers: int) -> float:
    """Return the |z| beyond which a peer is an outlier, by the size of the group.

    It is the normal distribution's for one false outlier in 20 groups, increased because few peers show their spread
    badly. Fitted to simulations of 3 to 20,000 peers that differ by 3 %: 3 to 5 % of groups have a false outlier.
    """
    of_one = 1 - (1 - MOST_FALSE_GROUPS) ** (1 / peers)
    return NormalDist().inv_cdf(1 - of_one / 2) * (1 + 10 / (peers + 20))


def _levels(runs: Runs, campaigns: Collection[int]) -> dict[str, dict[int, float]]:
    """Return the logarithmic level of each peer in each of these campaigns, if it has four runs in them."""
    levels = {}
    for name, of_peer in runs.items():
        chosen = {campaign: values for campaign, values in of_peer.items() if campaign in campaigns and values}
        if sum(map(len, chosen.values())) >= FEWEST_RUNS:
            levels[name] = {campaign: _log(median(values)) for campaign, values in chosen.items()}
    return levels


def _log(value: float) -> float:
    return log(value) if value > 0 else -inf


def _centres(levels: Mapping[str, Mapping[int, float]]) -> dict[int, float]:
    """Return the group's median level of each campaign that measured three peers and half of them, unless it is 0."""
    of_campaign = defaultdict(list)
    for of_peer in levels.values():
        for campaign, level in of_peer.items():
            of_campaign[campaign].append(level)
    fewest = max(FEWEST_PEERS, len(levels) / 2)
    centres = {campaign: median(some) for campaign, some in of_campaign.items() if len(some) >= fewest}
    return {campaign: centre for campaign, centre in centres.items() if isfinite(centre)}


def _spread(values: Sequence[float], centre: float, assumed_variance: float) -> float:
    """Return a sigma of the peers' values; that of a small group is drawn towards the assumed one (Smyth 2004)."""
    own = robust_sigma(values, centre) ** 2
    return sqrt((ASSUMED_PEERS * assumed_variance + len(values) * own) / (ASSUMED_PEERS + len(values)))


def _assumed_variance(runs: Runs, levels: Mapping[str, Mapping[int, float]], basis: PeerBasis) -> float:
    """Return the variance of equal peers' values: of hardware, days and noise.

    The noise is that of the median of campaigns, or of the runs of one campaign, of the middle peer.
    """
    campaigns = median_low(map(len, levels.values()))
    own = (of_peer.values() if campaigns > 1 else _logs(runs[name], of_peer) for name, of_peer in levels.items())
    noise = [variance(units) / len(units) for units in map(_finite, own) if len(units) > 1]
    has_unknown_days = basis is PeerBasis.OWN_CAMPAIGNS and campaigns == 1
    days = ASSUMED_DAY**2 if has_unknown_days else 0.0
    return ASSUMED_SPREAD**2 + days + pi / 2 * (median(noise) if noise else 0.0)


def _logs(of_peer: Mapping[int, Sequence[float]], campaigns: Collection[int]) -> Iterator[float]:
    return (_log(value) for campaign in campaigns for value in of_peer[campaign])


def _finite(values: Iterable[float]) -> list[float]:
    return list(filter(isfinite, values))


def _peer(
    runs: Mapping[int, Sequence[float]], distances: Mapping[int, float], difference: float, sigma: float, limit: float
) -> ComparedPeer:
    values = list(chain.from_iterable(runs[at] for at in distances))
    z, ratio = difference / sigma, exp(difference) - 1
    is_odd = abs(ratio) >= LEAST_RATIO and abs(z) > limit
    return ComparedPeer(
        len(values),
        len(distances),
        median(values),
        ratio,
        z if isfinite(z) else None,
        is_odd,
        {at: exp(distance) - 1 for at, distance in distances.items()},
    )
