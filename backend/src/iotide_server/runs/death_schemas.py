"""What the API takes and gives where an operator calls a silent node dead or frees a stuck one."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from iotide_server.kit.web import Input, Output
from iotide_server.runs.lifecycle import OrderEnd, RunState
from iotide_wire.messages import OrderState

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="Of the statement as it was shown")]


class DoomedOrderOutput(Output):
    """An order of the node that would end."""

    order_id: int
    state: Annotated[OrderState, Field(description="By the node's last word")]
    started_at: datetime | None
    end: OrderEnd


class EndedRunOutput(Output):
    """What it would do to a run."""

    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    orders: list[DoomedOrderOutput]
    becomes: Annotated[RunState, Field(description="At once, or when the other nodes of its gang have stopped")]
    ends: Annotated[str, Field(description="What ends, what is free then and what becomes of the run")]
    risk: Annotated[str, Field(description="What happens if the node is only cut off and its load still runs")]


class DeathStatement(Output):
    """State all that calling a silent node dead frees and ends."""

    node_id: int
    node_name: str
    last_seen_at: datetime
    runs: list[EndedRunOutput]
    waiting_count: Annotated[int, Field(description="Runs that wait for the node and go on waiting")]
    statement_sha256: str


class HeldRunOutput(Output):
    """A run whose load no signal ends, and what it holds."""

    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    process: Annotated[str, Field(examples=["dd (pid 25760) in state D, waiting in percpu_rwsem_wait"])]
    since: datetime
    frees: Annotated[str, Field(description="What is free then")]
    risk: Annotated[str, Field(description="What the load may do later")]


class StuckStatement(Output):
    """State all that freeing a stuck node does."""

    node_id: int
    node_name: str
    runs: list[HeldRunOutput]
    afterwards: Annotated[str, Field(description="What becomes of the node itself")]
    statement_sha256: str


class DeathConfirmation(Input):
    """Confirms that a statement was read and is to be carried out."""

    statement_sha256: Digest


class TouchedRunOutput(Output):
    """A run of which the node has orders."""

    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    ends: Annotated[
        bool, Field(description="Its orders there end at once; else they stay until somebody calls the node dead")
    ]
    words: Annotated[str, Field(description="What follows for it")]


class RevocationOutput(Output):
    """What revoking a node would do, and what it would leave to a person."""

    node_id: int
    node_name: str
    runs: list[TouchedRunOutput]
    waiting_count: Annotated[int, Field(description="Runs that wait for the node and go on waiting")]
