"""How much others used of a node: what was measured before a run, while nothing of ours loaded it, and during it."""

from typing import Annotated

from pydantic import Field

from iotide_wire.base import Message, Text
from iotide_wire.versions import Since

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""A share, a rate or a number of tasks."""


class ForeignBefore(Message):
    """The last idle seconds before a run: all that the node did in them is foreign.

    None is what the node does not tell, or what nobody saw, since the run before had just ended.

    Attributes:
        seconds: how long the sample is; below five it is too short to be judged.
        within_seconds: how long before the start its first second began: more than `seconds` where it was collected
            over several gaps between runs; None from agents that did not say.
        waited_seconds: how long the run was held back for a quiet node.
        processors: of the node.
        running_tasks: tasks that ran or wanted to, on average, without the one that looked.
        load1: load average of the last minute. Runs before this one are in it, so that nothing is judged by it.
        cpu_ratio: processor time, of all processors.
        psi_cpu_ratio, psi_io_ratio: share of time in which some task waited for a processor, or for storage.
        disk_bytes_per_second: read from and written to all disks, without what the run before had left to be written.
        network_bytes_per_second: received and sent on all interfaces.
        sessions: of people who are logged in, without the agent's own.
        jobs: of a batch system on this node, by number.
        excess: what was above the limits of the node's agent.toml, in words; empty where nothing was.
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
    """What others used while the load ran, as far as it can be told from what the load itself used.

    Only what the run cannot have caused is foreign, so all of this is rather too small; None where nobody can tell.

    Attributes:
        seconds: of the phases of which something can be told.
        cpu_ratio: processor time of programs, of all processors.
        storage_ratio: of the bytes on the targets' devices and servers.
        network_ratio: of the bytes on all interfaces.
        psi_cpu_ratio, psi_io_ratio: share of time in which some task waited, the load's own included: the kernel does
            not say whose, so that foreign is at most this.
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
    """What others used of one node before and during one run; None where it never came so far."""

    before: ForeignBefore | None
    during: ForeignDuring | None
