"""Kinds of errors of campaigns, of the roles in their plans and of the repeats that are added to them."""

from collections.abc import Sequence
from typing import Final

from iotide_server.kit.errors import ErrorKind, IotideError
from iotide_wire.endpoint import AUTOMATIC

_MOST_NAMED: Final = 5

CAMPAIGN_NOT_FOUND = ErrorKind(404, "campaign_not_found", field="campaign_id").says(
    "there is no campaign {campaign_id}"
)
CAMPAIGN_ENDED = ErrorKind(409, "campaign_ended", field="campaign_id").says(
    "all runs of campaign {campaign_id} have ended", "submit a new one with that priority"
)
CAMPAIGN_TOO_LARGE = ErrorKind(422, "campaign_too_large", field="repeats", shows="runs").says(
    "the plan means {runs} runs; a campaign has at most {allowed}",
    "take fewer nodes, targets, swept values or repeats, or submit several campaigns",
)
CAMPAIGN_ROWS = ErrorKind(422, "campaign_rows", field="nodes_at_once", shows="rows").says(
    "runs times the nodes, targets and observers of each are {rows:,}; a campaign has at most {allowed:,}",
    "name fewer nodes, targets and observers together, or fewer swept values or repeats",
)
OPTIONS_TOO_LARGE = ErrorKind(422, "options_too_large", field="{field}", shows="total_bytes").says(
    "{field}: the options of all configurations take {total_bytes:bytes}; a campaign has at most"
    " {allowed_bytes:bytes}, and this option takes most of them",
    "shorten it, take fewer swept values, nodes or targets, or submit several campaigns",
)
REPEATED_ENTRY = ErrorKind(422, "repeated_entry", field="{field}", shows="value").says(
    "{field}: {value} stands there twice", "name it once; repeats says how often each cell is run"
)


def _not_in_plan(code: str, among: str) -> ErrorKind:
    return ErrorKind(422, code, field="{field}", shows="name").says(
        f"{{field}}: {{name}} is not among the {among} of the plan", f"add {{name}} to {among}, or leave it out here"
    )


NODE_NOT_IN_PLAN = _not_in_plan("node_not_in_plan", "nodes")
OBSERVER_NOT_IN_PLAN = _not_in_plan("observer_not_in_plan", "observers")
TARGET_NOT_IN_PLAN = _not_in_plan("target_not_in_plan", "targets")
STAGE_NOT_IN_PLAN = _not_in_plan("stage_not_in_plan", "stages")
OBSERVER_LOADS = ErrorKind(422, "observer_loads", field="{field}", shows="node").says(
    "{field}: {node} loads in every run that it is to watch, and what loads is sampled anyway",
    "leave {node} out of observers, or name a node that does not load",
)
OBSERVER_HAS_NO_AGENT = ErrorKind(422, "observer_has_no_agent", field="{field}", shows="node").says(
    "{field}: {node} is a {role} node of a cluster with a batch system, and no agent stays there",
    "name a storage node, on which an agent runs as a service",
)
QUIET_BESIDE_RUNS = ErrorKind(422, "quiet_beside_runs", field="quiet", shows="policy").says(
    "quiet: {policy} asks for a quiet node, and with exclusive: none other runs may load it at the same time",
    "choose another exclusivity, or quiet: flag or ignore",
)
NO_WORKLOAD_NAMES_IT = ErrorKind(422, "no_workload_names_it", field="{field}", shows="name").says(
    "{field}: no workload of the plan is run with {name}", "leave {name} out, or name it in {narrowed_by} of a workload"
)
TOO_FEW_NODES = ErrorKind(422, "too_few_nodes", field="{field}", shows="count").says(
    "{field}: {count} nodes are to load together, and there are {known} ({names})",
    "name more nodes, or take {known} or fewer",
)
OPTION_SWEPT_AND_SET = ErrorKind(422, "option_swept_and_set", field="{field}", shows="option").says(
    "{field}: {option} is also among the options", "leave {option} out of options or out of sweep"
)
TARGET_NOT_ON_NODE = ErrorKind(409, "target_not_on_node", field="{field}", shows="target").says(
    "target {target} is not on node {node}",
    "leave {node} or {target} out, have each workload name the nodes and targets that go together, or define a"
    " target that {node} has too",
)
MOUNT_CHANGED = ErrorKind(409, "mount_changed", field="{field}", shows="target").says(
    "target {target} on node {node}: {what}", "{otherwise}; or leave {node} or {target} out"
)
NOT_ENOUGH_SPACE = ErrorKind(409, "not_enough_space", field="{field}", shows="needed_bytes").says(
    "{field} needs {needed_bytes:bytes} with its reserve; {where} has {free_bytes:bytes} free",
    "{smaller} or another target, or free space there",
)
CAMPAIGN_NOT_PAUSED = ErrorKind(409, "campaign_not_paused", field="campaign_id").says(
    "campaign {campaign_id} does not wait for a confirmation", "confirm when its state is paused"
)
STAGE_NOT_ENDED = ErrorKind(409, "stage_not_ended", field="campaign_id").says(
    "runs of the stage before {variant!r} were retried and have not ended",
    "let them end or cancel them, then change the servers and confirm",
)
FACTS_NOT_READ = ErrorKind(409, "facts_not_read", field="campaign_id").says(
    "{nodes:names} has not yet said what is mounted",
    "ask for it with POST .../pause/look once the servers are changed and wait for the answer, or cancel the"
    " waiting runs of a node that cannot give one; take one that only serves a target out of what the target"
    " stands on",
)
MOUNTS_DIFFER = ErrorKind(409, "mounts_differ", field="found_sha256").says(
    "the mounts are no longer those that the confirmation names",
    "look at the pause again and confirm what is found now",
)
TARGET_NOT_MOUNTED = ErrorKind(409, "target_not_mounted", field="targets", shows="target").says(
    "target {target} on node {node}: {problem}", "mount it there, look again and confirm"
)
DATA_FITS_IN_MEMORY = ErrorKind(409, "data_fits_in_memory", field="{field}", shows="data_bytes").says(
    "{field}: cache is larger_than_memory, a run has {data_bytes:bytes} of data on {node}, and twice"
    " the memory of {node} is {enough_bytes:bytes}",
    "{larger} the cache policy drop or remount",
)
IDEMPOTENCY_KEY_REUSED = ErrorKind(409, "idempotency_key_reused", field="Idempotency-Key", shows="key").says(
    "the key was used for campaign {campaign_id} with another plan", "make a new key for each campaign"
)
RUN_LONGER_THAN_WINDOW = ErrorKind(422, "run_longer_than_window", field="time_limit_seconds").says(
    "time_limit_seconds: a run of {time_limit_seconds:seconds} cannot end in the window {window}",
    "take a time limit below {longest:seconds}, or a longer window",
)
ROLES_NOT_OFFERED = ErrorKind(422, "roles_not_offered", field="{field}", shows="workload").says(
    "{field}: {workload} does all of its work on each node and has no sender and receiver",
    "leave roles out, or take a workload that sends from one node to another, such as stream",
)
SENDER_RECEIVES = ErrorKind(422, "sender_receives", field="{field}", shows="node").says(
    "{field}: {node} would send to itself",
    "name two nodes, or leave roles out: each node then sends to itself within the node",
)
RECEIVER_UNREACHABLE = ErrorKind(409, "receiver_unreachable", field="{field}", shows="receiver").says(
    "{field}: {receiver} {why}",
    f"name the address at which it receives as data_address in agent.toml of {{receiver}}, or {AUTOMATIC} for"
    " that by which it reaches this server, and start its agent again",
)
ROLES_AND_NODES_AT_ONCE = ErrorKind(422, "roles_and_nodes_at_once", field="{field}", shows="at_once").says(
    "{field}: roles say which two nodes work together", "leave nodes_at_once or roles out of this workload"
)
TOO_MANY_RUNS = ErrorKind(409, "too_many_runs", field="repeats").says(
    "campaign {campaign_id} would have {runs} runs; a campaign has at most {allowed}",
    "add fewer repeats, or choose fewer cells",
)
CELL_STAGE_OVER = ErrorKind(409, "cell_stage_over", field="cell_ids", shows="cell_id").says(
    "cell {cell_id} belongs to the stage {variant!r} of its campaign, which is over",
    "choose cells of the present stage or a later one, or submit a campaign for that stage",
)
REPEATED_CELL_NOT_FOUND = ErrorKind(404, "cell_not_found", field="cell_ids[{index}]", shows="cell_id").says(
    "campaign {campaign_id} has no cell {cell_id}", "take ids from /api/v1/campaigns/{campaign_id}/cells"
)
CELL_RESOURCES_GONE = ErrorKind(409, "cell_resources_gone", field="campaign_id").says(
    "cells of campaign {campaign_id} cannot be run any more: {gone:clauses}",
    "choose other cells, or submit a campaign over the nodes and targets that there are",
)


def too_few_nodes(field: str, count: int, nodes: Sequence[str]) -> IotideError:
    """Return the refusal of more nodes than there are to load together."""
    names = ", ".join(nodes[:_MOST_NAMED]) + (" ..." if len(nodes) > _MOST_NAMED else "")
    return TOO_FEW_NODES(field=field, count=count, known=len(nodes), names=names)
