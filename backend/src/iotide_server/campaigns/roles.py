"""Plans whose workloads send from one node to another: the pairs of nodes that they mean."""

from collections.abc import Sequence
from itertools import permutations
from typing import Final

from iotide_server.campaigns.errors import NodeNotInPlanError, RepeatedEntryError, TooFewNodesError
from iotide_server.campaigns.role_errors import RolesAndCountsError, SenderReceivesError
from iotide_wire.measured import StepRole
from iotide_wire.plan import Roles, WorkloadChoice

NODE_ROLES: Final = (StepRole.SENDER, StepRole.RECEIVER)
"""What the nodes of a pair do, in their order."""


def pair_count(choice: WorkloadChoice, names: Sequence[str]) -> int:
    """How many pairs of nodes a workload with roles is run between, without making any of them."""
    return len(names) * (len(names) - 1) if isinstance(choice.roles, str) else len(choice.roles or ())


def pairs(choice: WorkloadChoice, names: Sequence[str]) -> list[Roles]:
    """The pairs of nodes that a workload is run between; none where it has no roles.

    Args:
        names: of the nodes that are the workload's.
    """
    if isinstance(choice.roles, str):
        return [Roles(sender=sender, receiver=receiver) for sender, receiver in permutations(names, 2)]
    return choice.roles or []


def check_roles(field: str, choice: WorkloadChoice, names: Sequence[str]) -> None:
    """Make sure that a workload's roles name pairs of its own nodes.

    Args:
        field: of the workload.

    Raises:
        RolesAndCountsError, TooFewNodesError, SenderReceivesError, NodeNotInPlanError, RepeatedEntryError: they do not.
    """
    if choice.roles is None:
        return
    if choice.nodes_at_once is not None:
        raise RolesAndCountsError(f"{field}.nodes_at_once")
    if isinstance(choice.roles, str):
        if len(names) < len(NODE_ROLES):
            raise TooFewNodesError(f"{field}.roles", len(NODE_ROLES), names)
        return
    known, seen = set(names), set[tuple[str, str]]()
    for index, pair in enumerate(choice.roles):
        where = f"{field}.roles[{index}]"
        for role, name in (("sender", pair.sender), ("receiver", pair.receiver)):
            if name not in known:
                raise NodeNotInPlanError(f"{where}.{role}", name)
        if pair.sender == pair.receiver:
            raise SenderReceivesError(f"{where}.receiver", pair.receiver)
        if (pair.sender, pair.receiver) in seen:
            raise RepeatedEntryError(where, f"{pair.sender} to {pair.receiver}")
        seen.add((pair.sender, pair.receiver))
