"""What the gateway answers to an agent that speaks of an order it cannot have."""

from iotide_server.kit.errors import ConflictError, NotFoundError


class OrderNotFoundError(NotFoundError):
    """No such order, or one of another node."""

    code = "order_not_found"

    def __init__(self, order_id: int) -> None:
        super().__init__(f"this node has no order {order_id}", field="order_id", value=order_id)


class StaleFenceError(ConflictError):
    """The fence is not the one of the order's attempt: the message is late, replayed or forged."""

    code = "stale_fence"

    def __init__(self, order_id: int) -> None:
        super().__init__(f"order {order_id} has another fence", field="fence", remedy="forget this offer")


class OrderTakenError(ConflictError):
    """Another process of this node has claimed the order."""

    code = "order_taken"

    def __init__(self, order_id: int) -> None:
        super().__init__(f"order {order_id} was claimed by another agent process", remedy="forget this offer")


class OrderWithdrawnError(ConflictError):
    """The order ended before it was claimed, or was lost since."""

    code = "order_withdrawn"

    def __init__(self, order_id: int, reason: str | None) -> None:
        super().__init__(f"order {order_id} was withdrawn: {reason or 'it has ended'}", remedy="forget this offer")


class OrderCancelledError(ConflictError):
    """A person cancelled the run."""

    code = "order_cancelled"

    def __init__(self, order_id: int, reason: str | None) -> None:
        super().__init__(f"order {order_id}: {reason or 'cancelled'}", remedy="forget this offer")


class NotAGatewayError(ConflictError):
    """A node that is no gateway speaks for a batch system."""

    code = "not_a_gateway"

    def __init__(self, node: str, role: str) -> None:
        super().__init__(
            f"{node} is a {role} node and no gateway",
            field="role",
            value=role,
            remedy='write role = "gateway" in its agent.toml and enroll it again with --replace',
        )


class LauncherDiffersError(ConflictError):
    """The runs of the gateway's cluster are not started by its batch system."""

    code = "launcher_differs"

    def __init__(self, cluster: str, launcher: str, system: str) -> None:
        super().__init__(
            f"the runs of the cluster {cluster} are started by {launcher}, not by {system}",
            field="system",
            value=system,
            remedy=f"run `iotide cluster launcher {cluster} {system}`, or correct [batch] in the gateway's agent.toml",
        )


class SchemaChangedError(ConflictError):
    """The node's workload is no longer the one that the campaign was submitted for."""

    code = "schema_changed"

    def __init__(self, workload: str) -> None:
        super().__init__(
            f"the node has {workload} in another version than when the campaign was submitted",
            remedy="submit the campaign again",
        )
