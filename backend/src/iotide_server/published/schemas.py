"""What the API gives of published results."""

from datetime import date
from typing import Annotated, Any

from pydantic import Field

from iotide_server.kit.web import Output


class PublishedCampaignOutput(Output):
    """A campaign that holds what was printed; one run for each number or row."""

    campaign_id: int
    campaign_name: Annotated[str, Field(examples=["dd-gpfs-local-nfs"])]
    cluster_id: int
    cluster_name: Annotated[str, Field(examples=["nus-svu"])]
    workload: Annotated[str, Field(examples=["dd"])]
    runs: int


class ClaimedRatio(Output):
    """What the printed numbers give at one setting."""

    options: Annotated[dict[str, Any], Field(examples=[{"file_size_bytes": 4_000_000_000}])]
    ratio: Annotated[float, Field(examples=[4.15])]


class PublishedClaim(Output):
    """A ratio that the authors put in words, beside what their numbers give."""

    words: str
    ratio: Annotated[float, Field(description="As claimed", examples=[10.0])]
    metric: Annotated[str, Field(examples=["duration"])]
    target: Annotated[str, Field(description="Divided by `against`", examples=["nfs"])]
    against: Annotated[str, Field(examples=["gpfs"])]
    ratios: list[ClaimedRatio]
    is_supported: Annotated[bool, Field(description="Whether any of the ratios is within a tenth of the claim")]
    verdict: Annotated[str, Field(examples=["Its own table gives 3.6 to 4.7 times."])]


class PublishedSourceOutput(Output):
    """Where numbers were printed, what they show and what to know of them before they are compared with."""

    key: Annotated[str, Field(examples=["nus-svu-gpfs"])]
    authors: str
    title: str
    place: Annotated[str, Field(description="Which table or section", examples=["table 2"])]
    url: str | None
    published_on: date | None
    shows: str
    caution: str
    claim: PublishedClaim | None
    campaigns: list[PublishedCampaignOutput]


class PublishedSources(Output):
    """All that are loaded."""

    items: list[PublishedSourceOutput]
