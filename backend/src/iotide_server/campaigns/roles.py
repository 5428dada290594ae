"""Plans whose workloads send from one node to another: the pairs of nodes that they mean."""

from collections.abc import Sequence
from itertools import permutations
from typing import Final

from iotide_server.campaigns.errors import (
    NODE_NOT_IN_PLAN,
    REPEATED_ENTRY,
    ROLES_AND_NODES_AT_ONCE,
    SENDER_RECEIVES,
    too_few_nodes,
)
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
        ROLES_AND_NODES_AT_ONCE, TOO_FEW_NODES, SENDER_RECEIVES, NODE_NOT_IN_PLAN, REPEATED_ENTRY: they do not.
    """
    if choice.roles is None:
        return
    if choice.nodes_at_once is not None:
        raise ROLES_AND_NODES_AT_ONCE(field=f"{field}.nodes_at_once", at_once="nodes_at_once")
    if isinstance(choice.roles, str):
        if len(names) < len(NODE_ROLES):
            raise too_few_nodes(f"{field}.roles", len(NODE_ROLES), names)
        return
    known, seen = set(names), set[tuple[str, str]]()
    for index, pair in enumerate(choice.roles):
        where = f"{field}.roles[{index}]"
        for role, name in (("sender", pair.sender), ("receiver", pair.receiver)):
            if name not in known:
                raise NODE_NOT_IN_PLAN(field=f"{where}.{role}", name=name)
        if pair.sender == pair.receiver:
            raise SENDER_RECEIVES(field=f"{where}.receiver", node=pair.receiver)
        if (pair.sender, pair.receiver) in seen:
            raise REPEATED_ENTRY(field=where, value=f"{pair.sender} to {pair.receiver}")
        seen.add((pair.sender, pair.receiver))
