"""What can go wrong with campaigns."""

from collections.abc import Sequence
from datetime import timedelta
from typing import ClassVar

from iotide_server.kit.errors import ConflictError, InvalidInputError, NotFoundError
from iotide_wire.expressions import MEMORY_FACTOR
from iotide_wire.units import format_bytes, format_seconds

_MOST_NAMED = 5


class CampaignNotFoundError(NotFoundError):
    """No such campaign, or none that the caller may see."""

    code = "campaign_not_found"

    def __init__(self, campaign_id: int) -> None:
        super().__init__(f"there is no campaign {campaign_id}", field="campaign_id", value=campaign_id)


class CampaignEndedError(ConflictError):
    """No run of the campaign waits or is active."""

    code = "campaign_ended"

    def __init__(self, campaign_id: int) -> None:
        super().__init__(
            f"all runs of campaign {campaign_id} have ended",
            field="campaign_id",
            value=campaign_id,
            remedy="submit a new one with that priority",
        )


class CampaignTooLargeError(InvalidInputError):
    """The matrix means more runs than a campaign may have."""

    code = "campaign_too_large"

    def __init__(self, runs: int, allowed: int) -> None:
        super().__init__(
            f"the plan means {runs} runs; a campaign has at most {allowed}",
            field="repeats",
            value=runs,
            remedy="take fewer nodes, targets, swept values or repeats, or submit several campaigns",
        )


class CampaignRowsError(InvalidInputError):
    """The runs name more nodes and targets, all together, than may be stored for one campaign."""

    code = "campaign_rows"

    def __init__(self, rows: int, allowed: int) -> None:
        super().__init__(
            f"runs times the nodes, targets and observers of each are {rows:,}; a campaign has at most {allowed:,}",
            field="nodes_at_once",
            value=rows,
            remedy="name fewer nodes, targets and observers together, or fewer swept values or repeats",
        )


class OptionsTooLargeError(InvalidInputError):
    """The options of all configurations together take more memory and disk than a campaign may."""

    code = "options_too_large"

    def __init__(self, field: str, total_bytes: int, allowed_bytes: int) -> None:
        super().__init__(
            f"{field}: the options of all configurations take {format_bytes(total_bytes)}; a campaign has at most "
            f"{format_bytes(allowed_bytes)}, and this option takes most of them",
            field=field,
            value=total_bytes,
            remedy="shorten it, take fewer swept values, nodes or targets, or submit several campaigns",
        )


class RepeatedEntryError(InvalidInputError):
    """Something stands twice in a list whose entries make cells."""

    code = "repeated_entry"

    def __init__(self, field: str, value: object) -> None:
        super().__init__(
            f"{field}: {value} stands there twice",
            field=field,
            value=value,
            remedy="name it once; repeats says how often each cell is run",
        )


class NotInPlanError(InvalidInputError):
    """A workload names what the plan does not.

    Attributes:
        among: the plan's list that lacks it.
    """

    among: ClassVar[str]

    def __init__(self, field: str, name: str) -> None:
        super().__init__(
            f"{field}: {name} is not among the {self.among} of the plan",
            field=field,
            value=name,
            remedy=f"add {name} to {self.among}, or leave it out here",
        )


class NodeNotInPlanError(NotInPlanError):
    """A workload is to run on a node that the plan does not name."""

    code = "node_not_in_plan"
    among = "nodes"


class ObserverNotInPlanError(NotInPlanError):
    """A workload's runs are to be watched by a node that the plan does not name for that."""

    code = "observer_not_in_plan"
    among = "observers"


class TargetNotInPlanError(NotInPlanError):
    """A workload is to load a target that the plan does not name."""

    code = "target_not_in_plan"
    among = "targets"


class StageNotInPlanError(NotInPlanError):
    """A workload is to be run in a stage that the plan does not have."""

    code = "stage_not_in_plan"
    among = "stages"


class ObserverLoadsError(InvalidInputError):
    """A node is to watch runs in all of which it loads."""

    code = "observer_loads"

    def __init__(self, field: str, node: str) -> None:
        super().__init__(
            f"{field}: {node} loads in every run that it is to watch, and what loads is sampled anyway",
            field=field,
            value=node,
            remedy=f"leave {node} out of observers, or name a node that does not load",
        )


class ObserverHasNoAgentError(InvalidInputError):
    """A node is to watch runs on which no agent runs beside them."""

    code = "observer_has_no_agent"

    def __init__(self, field: str, node: str, role: str) -> None:
        super().__init__(
            f"{field}: {node} is a {role} node of a cluster with a batch system, and no agent stays there",
            field=field,
            value=node,
            remedy="name a storage node, on which an agent runs as a service",
        )


class QuietBesideRunsError(InvalidInputError):
    """A run is to start on a quiet node alone, and others may load that node at the same time."""

    code = "quiet_beside_runs"

    def __init__(self, policy: str) -> None:
        super().__init__(
            f"quiet: {policy} asks for a quiet node, and with exclusive: none other runs may load it at the same time",
            field="quiet",
            value=policy,
            remedy="choose another exclusivity, or quiet: flag or ignore",
        )


class NoWorkloadNamesItError(InvalidInputError):
    """A plan names a node, an observer, a target or a stage that no workload of it is run with."""

    code = "no_workload_names_it"

    def __init__(self, field: str, name: str, narrowed_by: str) -> None:
        super().__init__(
            f"{field}: no workload of the plan is run with {name}",
            field=field,
            value=name,
            remedy=f"leave {name} out, or name it in {narrowed_by} of a workload",
        )


class TooFewNodesError(InvalidInputError):
    """More nodes are to load together than there are."""

    code = "too_few_nodes"

    def __init__(self, field: str, count: int, nodes: Sequence[str]) -> None:
        names = ", ".join(nodes[:_MOST_NAMED]) + (" ..." if len(nodes) > _MOST_NAMED else "")
        super().__init__(
            f"{field}: {count} nodes are to load together, and there are {len(nodes)} ({names})",
            field=field,
            value=count,
            remedy=f"name more nodes, or take {len(nodes)} or fewer",
        )


class SweptAndSetError(InvalidInputError):
    """An option has both one value and a list of values."""

    code = "option_swept_and_set"

    def __init__(self, field: str, option: str) -> None:
        super().__init__(
            f"{field}: {option} is also among the options",
            field=field,
            value=option,
            remedy=f"leave {option} out of options or out of sweep",
        )


class TargetNotOnNodeError(ConflictError):
    """A node of the plan does not have a target of the plan."""

    code = "target_not_on_node"

    def __init__(self, field: str, target: str, node: str) -> None:
        super().__init__(
            f"target {target} is not on node {node}",
            field=field,
            value=target,
            remedy=f"leave {node} or {target} out, have each workload name the nodes and targets that go together, or"
            f" define a target that {node} has too",
        )


class MountChangedError(ConflictError):
    """A target of the plan is not mounted on a node of the plan as it was when it was made."""

    code = "mount_changed"

    def __init__(self, field: str, target: str, node: str, problem: str) -> None:
        what, _, remedy = problem.partition("; ")
        super().__init__(
            f"target {target} on node {node}: {what}",
            field=field,
            value=target,
            remedy=f"{remedy}; or leave {node} or {target} out",
        )


class NotEnoughSpaceError(ConflictError):
    """A run would not fit on its target."""

    code = "not_enough_space"

    def __init__(self, field: str, where: str, needed_bytes: float, free_bytes: int, *, is_auto: bool = False) -> None:
        size = "give a size instead of auto, which is twice the memory," if is_auto else "take smaller sizes"
        super().__init__(
            f"{field} needs {format_bytes(needed_bytes)} with its reserve; {where} has {format_bytes(free_bytes)} free",
            field=field,
            value=int(needed_bytes),
            remedy=f"{size} or another target, or free space there",
        )


class NotPausedError(ConflictError):
    """Nothing of the campaign waits for an operator."""

    code = "campaign_not_paused"

    def __init__(self, campaign_id: int) -> None:
        super().__init__(
            f"campaign {campaign_id} does not wait for a confirmation",
            field="campaign_id",
            value=campaign_id,
            remedy="confirm when its state is paused",
        )


class StageNotEndedError(ConflictError):
    """Runs of an earlier stage have not ended."""

    code = "stage_not_ended"

    def __init__(self, campaign_id: int, variant: str) -> None:
        super().__init__(
            f"runs of the stage before {variant!r} were retried and have not ended",
            field="campaign_id",
            value=campaign_id,
            remedy="let them end or cancel them, then change the servers and confirm",
        )


class FactsNotReadError(ConflictError):
    """What a node said of its mounts is older than the operator's request to look."""

    code = "facts_not_read"

    def __init__(self, campaign_id: int, nodes: Sequence[str]) -> None:
        super().__init__(
            f"{', '.join(nodes)} has not yet said what is mounted",
            field="campaign_id",
            value=campaign_id,
            remedy="ask for it with POST .../pause/look once the servers are changed and wait for the answer, or"
            " cancel the waiting runs of a node that cannot give one; take one that only serves a target out of what"
            " the target stands on",
        )


class MountsDifferError(ConflictError):
    """The confirmation is of other mounts than those found."""

    code = "mounts_differ"

    def __init__(self, found_sha256: str) -> None:
        super().__init__(
            "the mounts are no longer those that the confirmation names",
            field="found_sha256",
            value=found_sha256,
            remedy="look at the pause again and confirm what is found now",
        )


class TargetNotMountedError(ConflictError):
    """A target of a paused campaign is not mounted on a node."""

    code = "target_not_mounted"

    def __init__(self, target: str, node: str, problem: str) -> None:
        super().__init__(
            f"target {target} on node {node}: {problem}",
            field="targets",
            value=target,
            remedy="mount it there, look again and confirm",
        )


class DataFitsInMemoryError(ConflictError):
    """The cache policy relies on data larger than memory, and a run has less."""

    code = "data_fits_in_memory"

    def __init__(self, field: str, node: str, data_bytes: float, memory_bytes: float, *, can_grow: bool) -> None:
        larger = "take larger sizes (`auto` is twice the memory), or" if can_grow else "larger sizes have no room: take"
        super().__init__(
            f"{field}: cache is larger_than_memory, a run has {format_bytes(data_bytes)} of data on {node}, and twice"
            f" the memory of {node} is {format_bytes(MEMORY_FACTOR * memory_bytes)}",
            field=field,
            value=int(data_bytes),
            remedy=f"{larger} the cache policy drop or remount",
        )


class IdempotencyKeyReusedError(ConflictError):
    """The same key came with another plan."""

    code = "idempotency_key_reused"

    def __init__(self, key: str, campaign_id: int) -> None:
        super().__init__(
            f"the key was used for campaign {campaign_id} with another plan",
            field="Idempotency-Key",
            value=key,
            remedy="make a new key for each campaign",
        )


class RunLongerThanWindowError(InvalidInputError):
    """By its time limit no run could end in the window."""

    code = "run_longer_than_window"

    def __init__(self, time_limit_seconds: float, window: str, longest: timedelta) -> None:
        super().__init__(
            f"time_limit_seconds: a run of {format_seconds(time_limit_seconds)} cannot end in the window {window}",
            field="time_limit_seconds",
            value=time_limit_seconds,
            remedy=f"take a time limit below {format_seconds(longest.total_seconds())}, or a longer window",
        )
