"""What can go wrong with the roles of a plan: which node sends and which receives."""

from iotide_server.kit.errors import ConflictError, InvalidInputError
from iotide_wire.endpoint import AUTOMATIC


class RolesNotOfferedError(InvalidInputError):
    """A workload that works on each node alone is to be split between two."""

    code = "roles_not_offered"

    def __init__(self, field: str, workload: str) -> None:
        super().__init__(
            f"{field}: {workload} does all of its work on each node and has no sender and receiver",
            field=field,
            value=workload,
            remedy="leave roles out, or take a workload that sends from one node to another, such as stream",
        )


class RolesAndCountsError(InvalidInputError):
    """A workload says which two nodes work together, and how many."""

    code = "roles_and_nodes_at_once"

    def __init__(self, field: str) -> None:
        super().__init__(
            f"{field}: roles say which two nodes work together",
            field=field,
            value="nodes_at_once",
            remedy="leave nodes_at_once or roles out of this workload",
        )


class SenderReceivesError(InvalidInputError):
    """A node is to send to itself."""

    code = "sender_receives"

    def __init__(self, field: str, node: str) -> None:
        super().__init__(
            f"{field}: {node} would send to itself",
            field=field,
            value=node,
            remedy="name two nodes, or leave roles out: each node then sends to itself within the node",
        )


class ReceiverUnreachableError(ConflictError):
    """A receiving node listens at no address that its sender can reach."""

    code = "receiver_unreachable"

    def __init__(self, field: str, receiver: str, why: str) -> None:
        super().__init__(
            f"{field}: {receiver} {why}",
            field=field,
            value=receiver,
            remedy=f"name the address at which it receives as data_address in agent.toml of {receiver}, or"
            f" {AUTOMATIC} for that by which it reaches this server, and start its agent anew",
        )
