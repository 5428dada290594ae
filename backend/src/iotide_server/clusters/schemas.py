"""What the API takes and gives for clusters and nodes."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from iotide_server.clusters import models
from iotide_server.kit.web import Input, Output
from iotide_wire.base import Name

Description = Annotated[str, Field(max_length=2000, description="What a colleague should know", examples=["rack 4"])]


class ClusterInput(Input):
    """A new cluster."""

    name: Annotated[Name, Field(examples=["blade-2026"])]
    description: Description = ""


class ClusterPatch(Input):
    """The fields of a cluster to change; what is left out stays."""

    name: Annotated[Name, Field(examples=["blade-2026"])] = ""
    description: Description = ""


class Cluster(Output):
    """A named set of nodes and targets."""

    id: int
    name: str
    description: str
    created_at: datetime

    @classmethod
    def of(cls, row: models.Cluster) -> "Cluster":
        """As the API shows the row."""
        return cls.model_validate(row)
