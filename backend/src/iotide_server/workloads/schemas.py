"""API schemas of the workload catalogue."""

from typing import Annotated, Any, Literal

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.workloads.models import Workload
from iotide_server.workloads.repository import WorkloadNodes
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression


class WorkloadOutput(Output):
    """Revision of a workload, with the nodes that have it."""

    id: int
    cluster_id: Annotated[int | None, Field(description="Cluster of its catalogue; null for iotide's own workloads")]
    name: Annotated[str, Field(examples=["fio"])]
    revision: int
    title: str
    description: str
    schema_sha256: Annotated[str, Field(description="Equal on nodes with comparable results")]
    options_schema: Annotated[dict[str, Any], Field(description="JSON Schema; `x-unit` names a property's base unit")]
    option_defaults: Annotated[dict[str, Any], Field(description="In base units")]
    metrics: list[MetricSpec]
    step_roles: Annotated[
        list[Literal["sender", "receiver"]], Field(description="Roles that a plan can assign; empty: none")
    ]
    own_programs: Annotated[
        Expression,
        Field(description="Of the options; 0 if several nodes at once run one program, else each node starts its own"),
    ]
    tool: Annotated[str, Field(description="Program that does the work", examples=["fio"])]
    nodes: list[WorkloadNodes]

    @classmethod
    def of(cls, workload: Workload, nodes: list[WorkloadNodes]) -> "WorkloadOutput":
        return cls.of_row(workload, schema_sha256=workload.digest, nodes=nodes)
