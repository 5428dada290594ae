"""API schemas of published results."""

from datetime import date
from typing import Annotated, Any

from pydantic import Field

from iotide_server.kit.web import Output


class PublishedCampaignOutput(Output):
    """A campaign with published values; each value or row is a run."""

    campaign_id: int
    campaign_name: Annotated[str, Field(examples=["dd-gpfs-local-nfs"])]
    cluster_id: int
    cluster_name: Annotated[str, Field(examples=["nus-svu"])]
    workload: Annotated[str, Field(examples=["dd"])]
    runs: int


class ClaimedRatio(Output):
    """Ratio of the published values for one set of options."""

    options: Annotated[dict[str, Any], Field(examples=[{"file_size_bytes": 4_000_000_000}])]
    ratio: Annotated[float, Field(examples=[4.15])]


class PublishedClaim(Output):
    """A claim of the authors, compared with their values."""

    words: str
    ratio: Annotated[float, Field(description="Claimed ratio", examples=[10.0])]
    metric: Annotated[str, Field(examples=["duration"])]
    target: Annotated[str, Field(description="Divided by `against`", examples=["nfs"])]
    against: Annotated[str, Field(examples=["gpfs"])]
    ratios: list[ClaimedRatio]
    is_supported: Annotated[bool, Field(description="At least one ratio is within a tenth of the claim")]
    verdict: Annotated[str, Field(examples=["Its own table gives 3.6 to 4.7 times."])]


class PublishedSourceOutput(Output):
    """A publication with caveats."""

    key: Annotated[str, Field(examples=["nus-svu-gpfs"])]
    authors: str
    title: str
    place: Annotated[str, Field(description="Table or section", examples=["table 2"])]
    url: str | None
    published_on: date | None
    shows: str
    caution: str
    claim: PublishedClaim | None
    campaigns: list[PublishedCampaignOutput]


class PublishedSources(Output):
    items: list[PublishedSourceOutput]
