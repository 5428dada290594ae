from typing import Annotated, Any

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.results.schemas import Better, Labels, Metric
from iotide_server.statistics.peers import PeerBasis
from iotide_wire.measured import PeerKind
from iotide_wire.units import Unit


class PeerCampaign(Output):
    """A campaign's median, compared with the group's."""

    campaign_id: int
    difference_ratio: Annotated[float, Field(description="Ratio to the group's median, minus 1")]


class Peer(Output):
    """A member of a peer group, compared with the group's median.

    `is_odd` needs a difference of 5 % and a `robust_z` beyond the group's `z_limit`.
    """

    name: Annotated[str, Field(examples=["raid3"])]
    series_id: int
    n: Annotated[int, Field(description="Number of runs")]
    campaigns: Annotated[int, Field(description="Number of campaigns with these runs")]
    median: float
    difference_ratio: Annotated[
        float, Field(description="Ratio to the group's median, minus 1; if campaigns are compared, their median")
    ]
    robust_z: Annotated[
        float | None, Field(description="Difference over the spread between peers; null where the value is 0")
    ]
    is_odd: bool
    by_campaign: Annotated[
        list[PeerCampaign], Field(description="In the order of campaigns; empty in groups of more than 200 members")
    ]
    words: Annotated[str, Field(examples=["outlier: 23.0 % below the median of 3 peers, worse"])]


class PeerGroup(Output):
    """Peers compared by one metric, outliers first; no members unless three have four runs each."""

    kind: PeerKind
    alike: Annotated[str, Field(description="Common property of the peers", examples=["xfs of 10.9 TiB, scope node"])]
    workload: str
    options: dict[str, Any]
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    members: list[Peer]
    too_few: Annotated[
        list[str], Field(description="Members with fewer than four runs that can be compared", examples=[["raid4"]])
    ]
    has_odd: bool
    not_judged: Annotated[
        str | None,
        Field(
            description="Why the peers were not compared; null where they were",
            examples=["not enough data: 2 of 3 have 4 runs, 3 needed"],
        ),
    ]
    z_limit: Annotated[
        float | None,
        Field(description="Limit of the robust z for the size of the group; null if not judged", examples=[3.7]),
    ]
    basis: Annotated[PeerBasis | None, Field(description="Campaigns that were compared; null if not judged")]
    basis_words: Annotated[str | None, Field(examples=["compared within each campaign, so days do not count"])]


class Peers(Output):
    """Peer groups of a cluster, outliers first."""

    cluster_id: int
    groups: list[PeerGroup]
    left_out: Annotated[int, Field(description="Number of groups beyond the limit")]
