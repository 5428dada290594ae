"""What can go wrong with clusters, nodes and their agents."""

from collections.abc import Collection
from datetime import datetime, timedelta

from iotide_server.kit.clock import written
from iotide_server.kit.errors import (
    ConflictError,
    InvalidInputError,
    NotAllowedError,
    NotAuthenticatedError,
    NotFoundError,
    TooManyRequestsError,
)
from iotide_server.kit.suggest import choose_from
from iotide_wire.units import format_seconds
from iotide_wire.versions import STRANGE_VERSION, named


class ClusterNotFoundError(NotFoundError):
    """No such cluster, or none that the caller may see."""

    code = "cluster_not_found"

    def __init__(self, cluster: int | str, known: Collection[str] = (), *, field: str = "cluster_id") -> None:
        super().__init__(
            f"there is no cluster {cluster}",
            field=field,
            value=cluster,
            remedy=choose_from(cluster, known) if isinstance(cluster, str) else None,
        )


class ClusterNameTakenError(ConflictError):
    """Another cluster has the name."""

    code = "cluster_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is a cluster {name} already", field="name", value=name, remedy="choose another name")


class ClusterMadeUpError(ConflictError):
    """Nothing runs on a cluster of sample data."""

    code = "cluster_made_up"

    def __init__(self, name: str, *, field: str = "cluster") -> None:
        super().__init__(
            f"the cluster {name} holds sample data, and nothing runs on it",
            field=field,
            value=name,
            remedy="name a cluster of your own; `iotide-server forget-demo-history` removes all sample data",
        )


class ClusterBusyError(ConflictError):
    """Runs are active that the present launcher has to end."""

    code = "cluster_busy"

    def __init__(self, name: str, launcher: str, run_count: int) -> None:
        super().__init__(
            f"{run_count} runs are active in the cluster {name}",
            field="launcher",
            value=launcher,
            remedy="drain the cluster and let them end, or cancel them",
        )


class NodeNotFoundError(NotFoundError):
    """No such node, or none that the caller may see."""

    code = "node_not_found"

    def __init__(self, node: int | str, known: Collection[str] = (), *, field: str = "node_id") -> None:
        super().__init__(
            f"there is no node {node}",
            field=field,
            value=node,
            remedy=choose_from(node, known) if isinstance(node, str) else None,
        )


class NodeNameTakenError(ConflictError):
    """A living node of the cluster has the name."""

    code = "node_name_taken"

    def __init__(self, name: str, *, field: str = "node_name") -> None:
        super().__init__(
            f"the cluster has a node {name} already",
            field=field,
            value=name,
            remedy="if it is the same host, let it enroll again with a token from the node's page; else give another"
            " name as node_name in its agent.toml, or retire the old node first",
        )


class NodePendingError(NotAllowedError):
    """The node was not let in yet."""

    code = "node_pending"

    def __init__(self, name: str, fingerprint: str, until: datetime) -> None:
        super().__init__(
            f"node {name} waits to be let in, until {written(until)}",
            field="node_token",
            remedy="have an administrator of the cluster approve it on the cluster's page, where the fingerprint of its"
            f" token must be {fingerprint}",
        )


class PendingNodeNotFoundError(NotFoundError):
    """No such host waits there."""

    code = "pending_node_not_found"

    def __init__(self, pending_id: int, *, field: str) -> None:
        super().__init__(f"no host {pending_id} waits to be let into this cluster", field=field, value=pending_id)


class RotationNotWantedError(ConflictError):
    """A node asks for new credentials although nobody wants it to."""

    code = "rotation_not_wanted"

    def __init__(self, node_id: int) -> None:
        super().__init__(f"node {node_id} is not to have new credentials", remedy="go on with the present ones")


class RotationImpossibleError(ConflictError):
    """The node cannot be given new credentials by a beat."""

    code = "rotation_impossible"

    def __init__(self, node: str, because: str, remedy: str) -> None:
        super().__init__(f"node {node} {because}", field="node_id", value=node, remedy=remedy)


class NodeInUseError(ConflictError):
    """Another host is not given the identity of a node on which a load may run."""

    code = "node_in_use"

    def __init__(self, node: str, run_ids: Collection[int]) -> None:
        super().__init__(
            f"node {node} has claimed orders of the runs {', '.join(map(str, sorted(run_ids)))} and may load for them",
            field="join_token",
            remedy="let them end, or call the node dead or free it on its page, and enroll again",
        )


class NodeBusyError(ConflictError):
    """Runs need the node."""

    code = "node_busy"

    def __init__(self, name: str, run_count: int) -> None:
        super().__init__(
            f"{run_count} waiting or active runs need the node {name}",
            field="node_id",
            value=name,
            remedy="cancel them or let them end first; revoke the node where somebody else may have its token",
        )


class SlotsInUseError(ConflictError):
    """More runs share the node than it would have slots."""

    code = "slots_in_use"

    def __init__(self, slots: int, used: int) -> None:
        super().__init__(
            f"{used} runs share the node now", field="slots", value=slots, remedy="wait for some of them to end"
        )


class DrainEndPassedError(InvalidInputError):
    """A drain would have ended before it began."""

    code = "drain_end_passed"

    def __init__(self, until: datetime) -> None:
        super().__init__(
            f"until: {until} has passed",
            field="until",
            value=until,
            remedy="give a time to come, or null until somebody resumes it",
        )


class NodeNotSilentError(ConflictError):
    """A node that speaks is not dead."""

    code = "node_not_silent"

    def __init__(self, node: str, heard_at: datetime | None, silent_after: timedelta) -> None:
        heard = "was never heard of" if heard_at is None else f"was heard of at {written(heard_at)}"
        super().__init__(
            f"node {node} {heard}",
            field="node_id",
            value=node,
            remedy=(
                f"a node can be called dead once it was silent for {format_seconds(silent_after.total_seconds())}; "
                "cancel the runs of one that speaks, or drain it"
            ),
        )


class NodeNotStuckError(ConflictError):
    """A node on which no load holds anything that could be freed."""

    code = "node_not_stuck"

    def __init__(self, node: str) -> None:
        super().__init__(
            f"node {node} is not stuck: no load that cannot be killed holds anything there",
            field="node_id",
            value=node,
            remedy="look at its page; call a silent node dead, and cancel runs of one that is online",
        )


class HeldDiffersError(ConflictError):
    """What the confirmation names is not what would be freed now."""

    code = "held_differs"

    def __init__(self, seen_sha256: str) -> None:
        super().__init__(
            "what would be freed is no longer what the confirmation names",
            field="statement_sha256",
            value=seen_sha256,
            remedy="look at the statement again with GET .../stuck and confirm that one",
        )


class DeathDiffersError(ConflictError):
    """What the confirmation names is not what would be freed and ended now."""

    code = "death_differs"

    def __init__(self, seen_sha256: str) -> None:
        super().__init__(
            "what would be freed and ended is no longer what the confirmation names",
            field="statement_sha256",
            value=seen_sha256,
            remedy="look at the statement again with GET .../dead and confirm that one",
        )


class JoinTokenRefusedError(NotAuthenticatedError):
    """A join token that lets nobody in."""

    code = "join_token_refused"

    def __init__(self) -> None:
        super().__init__(
            "the join token is unknown, expired or used up",
            field="join_token",
            remedy="make a new one on the cluster's page",
        )


class JoinTokenNotFoundError(NotFoundError):
    """No such join token, or none that the caller may see."""

    code = "join_token_not_found"

    def __init__(self, token_id: int) -> None:
        super().__init__(f"there is no join token {token_id}", field="token_id", value=token_id)


class WireVersionUnsupportedError(ConflictError):
    """Agent and server speak different languages."""

    code = STRANGE_VERSION

    def __init__(self, wire_version: int, spoken: range) -> None:
        super().__init__(
            f"the agent speaks version {wire_version} and this server {named(spoken)}",
            field="wire_version",
            value=wire_version,
            remedy="install an agent of the server's release" if wire_version < spoken.start else "upgrade the server",
        )


class AgentAlreadyRunningError(ConflictError):
    """Another agent with the same identity was heard of a moment ago."""

    code = "agent_already_running"

    def __init__(self, node: str, heard_ago: timedelta) -> None:
        super().__init__(
            f"an agent of {node} was heard of {format_seconds(heard_ago.total_seconds())} ago",
            field="agent_instance",
            remedy="stop the other agent, or enroll this machine as a node of its own",
        )


class TooManyHellosError(TooManyRequestsError):
    """A node announces its agent too often."""

    code = "too_many_hellos"

    def __init__(self, node: str, a_minute: int, wait_seconds: int) -> None:
        super().__init__(
            f"{node} announced its agent more than {a_minute} times a minute",
            wait_seconds,
            remedy="an agent sends it again by itself; if that goes on, look for a second agent with the node's token, "
            "or raise IOTIDE_REPORT_HELLOS_A_MINUTE",
        )


class AgentSupersededError(ConflictError):
    """Another agent of the node said hello since."""

    code = "agent_superseded"

    def __init__(self, node: str) -> None:
        super().__init__(f"another agent of {node} has taken over", field="agent_instance", remedy="stop this agent")


class BlackoutNotFoundError(NotFoundError):
    """No such blackout, or none that the caller may see."""

    code = "blackout_not_found"

    def __init__(self, blackout_id: int) -> None:
        super().__init__(f"there is no blackout {blackout_id}", field="blackout_id", value=blackout_id)


class BlackoutOverError(ConflictError):
    """It would be over already."""

    code = "blackout_over"

    def __init__(self, ends_at: datetime) -> None:
        super().__init__(
            f"ends_at: the blackout would have ended at {written(ends_at)}",
            field="ends_at",
            value=ends_at.isoformat(),
            remedy="give a time to come",
        )
