"""Errors of campaigns, of roles in plans and of added repeats."""

from collections.abc import Sequence
from typing import Final

from iotide_server.kit.errors import ErrorKind, IotideError
from iotide_wire.endpoint import AUTOMATIC

_MOST_NAMED: Final = 5

CAMPAIGN_NOT_FOUND = ErrorKind(404, "campaign_not_found", field="campaign_id").says(
    "there is no campaign {campaign_id}"
)
CAMPAIGN_ENDED = ErrorKind(409, "campaign_ended", field="campaign_id").says(
    "all runs of campaign {campaign_id} have ended", "submit a new campaign with that priority"
)
CAMPAIGN_TOO_LARGE = ErrorKind(422, "campaign_too_large", field="repeats", shows="runs").says(
    "the plan has {runs} runs; a campaign may have at most {allowed}",
    "use fewer nodes, targets, swept values or repeats, or submit several campaigns",
)
CAMPAIGN_ROWS = ErrorKind(422, "campaign_rows", field="nodes_at_once", shows="rows").says(
    "the runs have {rows:,} nodes, targets and observers in total; a campaign may have at most {allowed:,}",
    "use fewer nodes, targets and observers in each run, or fewer swept values or repeats",
)
OPTIONS_TOO_LARGE = ErrorKind(422, "options_too_large", field="{field}", shows="total_bytes").says(
    "{field}: the options of all configurations take {total_bytes:bytes}, most of it for this option; a campaign may"
    " have at most {allowed_bytes:bytes}",
    "shorten it, use fewer swept values, nodes or targets, or submit several campaigns",
)
REPEATED_ENTRY = ErrorKind(422, "repeated_entry", field="{field}", shows="value").says(
    "{field}: {value} is listed twice", "list it once; use repeats to run each configuration several times"
)


def _not_in_plan(code: str, among: str) -> ErrorKind:
    return ErrorKind(422, code, field="{field}", shows="name").says(
        f"{{field}}: {{name}} is not in the plan's {among}", f"add {{name}} to {among}, or remove it here"
    )


NODE_NOT_IN_PLAN = _not_in_plan("node_not_in_plan", "nodes")
OBSERVER_NOT_IN_PLAN = _not_in_plan("observer_not_in_plan", "observers")
TARGET_NOT_IN_PLAN = _not_in_plan("target_not_in_plan", "targets")
STAGE_NOT_IN_PLAN = _not_in_plan("stage_not_in_plan", "stages")
OBSERVER_LOADS = ErrorKind(422, "observer_loads", field="{field}", shows="node").says(
    "{field}: {node} loads in every run that it would observe, and loading nodes are always sampled",
    "remove {node} from observers, or name a node that does not load",
)
OBSERVER_HAS_NO_AGENT = ErrorKind(422, "observer_has_no_agent", field="{field}", shows="node").says(
    "{field}: {node} is a {role} node of a cluster with a batch system and has no permanent agent",
    "name a storage node, where the agent runs as a service",
)
QUIET_WITH_OTHER_RUNS = ErrorKind(422, "quiet_beside_runs", field="quiet", shows="policy").says(
    "quiet: {policy} needs an idle node, but with exclusive: none other runs may load it at the same time",
    "choose another value for exclusive, or quiet: flag or ignore",
)
ADAPTIVE_REPEATS = ErrorKind(422, "adaptive_repeats", field="repeats", shows="repeats").says(
    "repeats: an adaptive plan needs a maximum of {least} to {most} runs, not {repeats}", "change most in repeats"
)
ADAPTIVE_AND_SPREAD = ErrorKind(422, "adaptive_and_spread", field="spread_seconds").says(
    "spread_seconds: adaptive repeats cannot be spread, because their number is not known beforehand",
    "remove spread, or set repeats to a number",
)
SPREAD_OF_ONE_RUN = ErrorKind(422, "spread_of_one_run", field="spread_seconds").says(
    "spread_seconds: one repeat cannot be spread", "use two or more repeats, or remove spread"
)
NO_WORKLOAD_NAMES_IT = ErrorKind(422, "no_workload_names_it", field="{field}", shows="name").says(
    "{field}: no workload of the plan uses {name}", "remove {name}, or add it to {narrowed_by} of a workload"
)
TOO_FEW_NODES = ErrorKind(422, "too_few_nodes", field="{field}", shows="count").says(
    "{field}: {count} nodes should load together, but there are only {known} ({names})",
    "name more nodes, or use {known} or fewer",
)
OPTION_SWEPT_AND_SET = ErrorKind(422, "option_swept_and_set", field="{field}", shows="option").says(
    "{field}: {option} is also in options", "remove {option} from options or from sweep"
)
TARGET_NOT_ON_NODE = ErrorKind(409, "target_not_on_node", field="{field}", shows="target").says(
    "target {target} is not on node {node}",
    "remove {node} or {target}, give each workload its own nodes and targets, or define a target that {node} has, too",
)
MOUNT_CHANGED = ErrorKind(409, "mount_changed", field="{field}", shows="target").says(
    "target {target} on node {node}: {what}", "{otherwise}; or remove {node} or {target}"
)
NOT_ENOUGH_SPACE = ErrorKind(409, "not_enough_space", field="{field}", shows="needed_bytes").says(
    "{field}: a run needs {needed_bytes:bytes} including the reserve, but {where} has only {free_bytes:bytes} free",
    "{smaller} or another target, or free space there",
)
CAMPAIGN_NOT_PAUSED = ErrorKind(409, "campaign_not_paused", field="campaign_id").says(
    "campaign {campaign_id} does not wait for a confirmation", "confirm when its state is paused"
)
STAGE_NOT_ENDED = ErrorKind(409, "stage_not_ended", field="campaign_id").says(
    "runs of the stage before {variant!r} were retried and have not ended",
    "wait for them or cancel them, then change the servers and confirm",
)
FACTS_NOT_READ = ErrorKind(409, "facts_not_read", field="campaign_id").says(
    "no current mounts from {nodes:names}",
    "after changing the servers, call POST .../pause/look and wait for the answers; for a node that cannot answer,"
    " cancel its waiting runs or, if it only serves a target, remove it from the target's backing",
)
MOUNTS_DIFFER = ErrorKind(409, "mounts_differ", field="found_sha256").says(
    "the mounts have changed since the confirmation was prepared",
    "read the pause again and confirm the current mounts",
)
TARGET_NOT_MOUNTED = ErrorKind(409, "target_not_mounted", field="targets", shows="target").says(
    "target {target} on node {node}: {problem}", "mount it there, ask the nodes again and confirm"
)
DATA_FITS_IN_MEMORY = ErrorKind(409, "data_fits_in_memory", field="{field}", shows="data_bytes").says(
    "{field}: with cache: larger_than_memory, a run needs {enough_bytes:bytes} of data on {node} (twice its memory),"
    " but has {data_bytes:bytes}",
    "{larger} the cache policy drop or remount",
)
IDEMPOTENCY_KEY_REUSED = ErrorKind(409, "idempotency_key_reused", field="Idempotency-Key", shows="key").says(
    "the key was already used for campaign {campaign_id} with another plan", "use a new key for each campaign"
)
RUN_LONGER_THAN_WINDOW = ErrorKind(422, "run_longer_than_window", field="time_limit_seconds").says(
    "time_limit_seconds: a run of {time_limit_seconds:seconds} cannot end in the window {window}",
    "use a time limit below {longest:seconds}, or a longer window",
)
ROLES_NOT_OFFERED = ErrorKind(422, "roles_not_offered", field="{field}", shows="workload").says(
    "{field}: {workload} does all of its work on each node and has no sender and receiver",
    "remove roles, or use a workload that sends from one node to another, such as stream",
)
WORKLOAD_ONLY_PREPARES = ErrorKind(422, "workload_only_prepares", field="{field}", shows="workload").says(
    "{field}: {workload} only prepares stages and measures nothing",
    "remove it; a plan's block scratch makes and cleans file systems",
)
SENDER_RECEIVES = ErrorKind(422, "sender_receives", field="{field}", shows="node").says(
    "{field}: {node} would send to itself",
    "name two nodes, or remove roles; each node then sends to itself",
)
RECEIVER_UNREACHABLE = ErrorKind(409, "receiver_unreachable", field="{field}", shows="receiver").says(
    "{field}: {receiver} {why}",
    f"set data_address in agent.toml of {{receiver}} to the address at which it receives, or to {AUTOMATIC} for the"
    " address from which it reaches this server, and restart its agent",
)
GANG_UNREACHABLE = ErrorKind(409, "gang_unreachable", field="{field}", shows="node").says(
    "{field}: {workload} is one program over {nodes:,} nodes, but {node} {why}",
    f"set data_address in agent.toml of {{node}} to its address on the cluster's network, or to {AUTOMATIC} for the"
    " address from which it reaches this server, and restart its agent",
)
GANG_TOO_LARGE = ErrorKind(422, "gang_too_large", field="{field}", shows="nodes").says(
    "{field}: {workload} is one program over {nodes:,} nodes; it may have at most {allowed:,}", "use fewer nodes"
)
GANG_TARGET_NOT_SHARED = ErrorKind(409, "gang_target_not_shared", field="{field}", shows="target").says(
    "{field}: {workload} is one program over {nodes:,} nodes, but target {target} is another file system on each node",
    "use a shared target{otherwise}",
)
GANG_SEVERAL_TARGETS = ErrorKind(422, "gang_several_targets", field="{field}", shows="targets").says(
    "{field}: {workload} is one program over {nodes:,} nodes, which works on one target, not on {targets:,} at once",
    "set targets_at_once to false{otherwise}",
)
ROLES_AND_NODES_AT_ONCE = ErrorKind(422, "roles_and_nodes_at_once", field="{field}", shows="at_once").says(
    "{field}: roles already choose the nodes of each run", "remove nodes_at_once or roles from this workload"
)
TOO_MANY_RUNS = ErrorKind(409, "too_many_runs", field="repeats").says(
    "campaign {campaign_id} would have {runs} runs; a campaign may have at most {allowed}",
    "add fewer repeats, or choose fewer configurations",
)
CELL_STAGE_OVER = ErrorKind(409, "cell_stage_over", field="cell_ids", shows="cell_id").says(
    "cell {cell_id} belongs to stage {variant!r}, which is over",
    "choose cells of the current stage or a later one, or submit a new campaign for that stage",
)
REPEATED_CELL_NOT_FOUND = ErrorKind(404, "cell_not_found", field="cell_ids[{index}]", shows="cell_id").says(
    "campaign {campaign_id} has no cell {cell_id}", "use ids from /api/v1/campaigns/{campaign_id}/cells"
)
CELL_RESOURCES_GONE = ErrorKind(409, "cell_resources_gone", field="campaign_id").says(
    "cells of campaign {campaign_id} can no longer run: {gone:clauses}",
    "choose other cells, or submit a campaign with nodes and targets that exist",
)
SCRATCH_AND_STAGES = ErrorKind(422, "scratch_and_stages", field="scratch", shows="").says(
    "scratch: the plan also has stages", "remove stages, or remove scratch"
)
SCRATCH_IMPOSSIBLE = ErrorKind(422, "scratch_impossible", field="scratch", shows="count").says(
    "scratch: {count} of {total} combinations cannot be made: {reasons:clauses}",
    "remove them, or set except_impossible: true to leave them out",
)
SCRATCH_EMPTY = ErrorKind(422, "scratch_empty", field="scratch", shows="").says(
    "scratch: no combination can be made: {reasons:clauses}", "choose other layouts, file systems or options"
)
SCRATCH_TOO_LARGE = ErrorKind(422, "scratch_too_large", field="scratch", shows="stages").says(
    "scratch: {stages} stages; a campaign may have at most {allowed}",
    "use fewer layouts, file systems, options, mounts or rounds, or submit several campaigns",
)
SCRATCH_ROUNDS = ErrorKind(422, "scratch_rounds", field="scratch.rounds", shows="rounds").says(
    "scratch.rounds: {rounds} rounds cannot share {repeats} repeats equally",
    "set repeats to a multiple of rounds, or change rounds",
)
SCRATCH_AND_ADAPTIVE = ErrorKind(422, "scratch_and_adaptive", field="scratch.rounds", shows="rounds").says(
    "scratch.rounds: adaptive repeats cannot be shared by {rounds} rounds",
    "set rounds to 1, or repeats to a number",
)
SCRATCH_TARGET = ErrorKind(422, "scratch_target", field="{field}", shows="name").says(
    "{field}: {name} is not the set that scratch makes", "name a target, or the set as node/set"
)
SCRATCH_SERVES = ErrorKind(422, "scratch_serves", field="scratch.serves", shows="").says(
    "scratch.serves: {problem}", "{remedy}"
)
SCRATCH_RUN_FAILED = ErrorKind(409, "scratch_run_failed", field="run_id", shows="run_id").says(
    "run {run_id} did not {does} the file system of this stage", "read its raw output for the reason"
)
SCRATCH_NOTHING_MADE = ErrorKind(409, "scratch_nothing_made", field="campaign_id", shows="").says(
    "nothing was made on the scratch set", "submit the campaign again"
)


def too_few_nodes(field: str, count: int, nodes: Sequence[str]) -> IotideError:
    names = ", ".join(nodes[:_MOST_NAMED]) + (" ..." if len(nodes) > _MOST_NAMED else "")
    return TOO_FEW_NODES(field=field, count=count, known=len(nodes), names=names)
