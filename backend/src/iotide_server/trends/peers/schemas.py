"""What the API gives for peers."""

from typing import Annotated, Any

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.results.schemas import Better, Labels, Metric
from iotide_server.trends.peers.groups import PeerKind
from iotide_wire.units import Unit


class Peer(Output):
    """One of a group beside all the others; `p_value` is adjusted for the number of peers.

    `robust_z` is null where the others are two, or all alike.
    """

    name: Annotated[str, Field(examples=["raid3"])]
    series_id: int
    n: Annotated[int, Field(description="Runs")]
    median: float
    difference_ratio: Annotated[float, Field(description="To the median of the others' medians, less 1")]
    robust_z: float | None
    p_value: float
    is_odd: bool
    words: Annotated[str, Field(examples=["odd: 23.0 % lower than its 2 peers, worse"])]


class PeerGroup(Output):
    """Equals, compared by one metric; each of three at least with four runs at least, odd ones first, else none."""

    kind: PeerKind
    alike: Annotated[str, Field(description="What they have in common", examples=["xfs of 10.9 TiB, scope node"])]
    workload: str
    options: dict[str, Any]
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    members: list[Peer]
    too_few: Annotated[list[str], Field(description="Who has fewer than four runs", examples=[["raid4"]])]
    has_odd: bool
    not_judged: Annotated[
        str | None,
        Field(
            description="Why there are no members; null where they were compared",
            examples=["not judged: 2 of 3 have 4 runs, 3 needed"],
        ),
    ]


class Peers(Output):
    """Groups of equals in a cluster, those with an odd one first."""

    cluster_id: int
    groups: list[PeerGroup]
    left_out: Annotated[int, Field(description="So many more groups than were asked for")]
