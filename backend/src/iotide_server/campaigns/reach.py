"""Whether the nodes of a plan can send to each other: what keeps a pair apart is said before anything is submitted."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address

from iotide_server.campaigns.errors import RECEIVER_UNREACHABLE, ROLES_NOT_OFFERED
from iotide_server.campaigns.roles import NODE_ROLES
from iotide_server.clusters.models import Node
from iotide_server.workloads.models import Workload
from iotide_wire.endpoint import DATA_ADDRESS
from iotide_wire.measured import StepRole
from iotide_wire.plan import Roles


def check_between(
    field: str, workload: Workload, found: Sequence[Roles], by_name: Mapping[str, Node]
) -> tuple[StepRole, ...]:
    """What each node of a pair does, if the workload can be split so and each sender reaches its receiver.

    Returns:
        Nothing for a workload without roles.

    Raises:
        ROLES_NOT_OFFERED, RECEIVER_UNREACHABLE: it cannot.
    """
    if not found:
        return ()
    if not set(NODE_ROLES) <= set(workload.step_roles):
        raise ROLES_NOT_OFFERED(field=f"{field}.roles", workload=workload.name)
    for pair in found:
        why = _why_unreachable(by_name[pair.sender], by_name[pair.receiver])
        if why is not None:
            raise RECEIVER_UNREACHABLE(field=f"{field}.roles", receiver=pair.receiver, why=why)
    return NODE_ROLES


def _why_unreachable(sender: Node, receiver: Node) -> str | None:
    """Of two agents on one machine, one that listens within the machine reaches the other."""
    address = receiver.facts.get(DATA_ADDRESS)
    if not isinstance(address, str):
        return "has not said at which address it receives"
    try:
        is_loopback = IPv4Address(address).is_loopback
    except ValueError:
        return f"says that it receives at {address!r}, which is no IPv4 address"
    if is_loopback and sender.boot_id != receiver.boot_id:
        return f"receives at {address} alone, where {sender.name} cannot reach it"
    return None
