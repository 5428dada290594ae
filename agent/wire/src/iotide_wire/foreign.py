"""Use of a node by others, before a run and during it."""

from typing import Annotated

from pydantic import Field

from iotide_wire.base import Message, Text
from iotide_wire.versions import Since

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ForeignBefore(Message):
    """The last idle seconds before a run, in which all activity of the node is foreign.

    Values are null if the node does not report them, or if the previous run had just ended.

    Attributes:
        seconds: length of the sample; below five it is not judged.
        within_seconds: how long before the start the sample began, across gaps between runs; null from older agents.
        waited_seconds: how long the run was held back for an idle node.
        processors: number of CPUs.
        running_tasks: mean number of runnable tasks.
        load1: load average of the last minute. It includes earlier runs, so it is not judged.
        cpu_ratio: share of all CPUs.
        psi_cpu_ratio, psi_io_ratio: share of time in which a task waited for a CPU, or for storage.
        disk_bytes_per_second: of all disks, without write-back of the previous run.
        network_bytes_per_second: of all interfaces.
        sessions: user sessions, without the agent's own.
        jobs: numbers of batch jobs on this node.
        excess: what exceeded the limits of the node's agent.toml, in words.
    """

    seconds: Amount
    waited_seconds: Amount
    processors: int
    running_tasks: Amount | None
    load1: Amount | None
    cpu_ratio: Amount | None
    psi_cpu_ratio: Amount | None
    psi_io_ratio: Amount | None
    disk_bytes_per_second: Amount | None
    network_bytes_per_second: Amount | None
    sessions: int | None
    jobs: Annotated[tuple[Text, ...], Field(max_length=100)] | None
    excess: Text
    within_seconds: Annotated[Amount | None, Since(3)] = None


class ForeignDuring(Message):
    """Use of a node by others during the load.

    Only what the run cannot have caused counts, so the values are lower bounds; null if unknown.

    Attributes:
        seconds: duration of the phases with known values.
        cpu_ratio: share of all CPUs.
        storage_ratio: share of the bytes on the targets' devices and servers.
        network_ratio: share of the bytes on all interfaces.
        psi_cpu_ratio, psi_io_ratio: share of time in which a task waited, an upper bound because it includes the
            load.
    """

    seconds: Amount
    cpu_ratio: Amount | None
    storage_ratio: Amount | None
    storage_bytes_per_second: Amount | None
    network_ratio: Amount | None
    network_bytes_per_second: Amount | None
    psi_cpu_ratio: Amount | None
    psi_io_ratio: Amount | None


class ForeignLoad(Message):
    """Use of a node by others before and during a run; null if the run did not get that far."""

    before: ForeignBefore | None
    during: ForeignDuring | None
