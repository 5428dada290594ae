"""Checks of a plan's block `scratch` and of its expansion."""

from collections.abc import Collection
from typing import Final

from iotide_server.campaigns.errors import (
    REPEATED_ENTRY,
    SCRATCH_AND_ADAPTIVE,
    SCRATCH_AND_STAGES,
    SCRATCH_EMPTY,
    SCRATCH_IMPOSSIBLE,
    SCRATCH_ROUNDS,
    SCRATCH_SERVES,
    SCRATCH_TARGET,
    SCRATCH_TOO_LARGE,
)
from iotide_server.campaigns.scratch.expansion import Expansion, combination_count
from iotide_wire.plan import CampaignPlan, Exclusivity
from iotide_wire.scratch_plan import ScratchPlan
from iotide_wire.scratch_vocabulary import MOST_CLIENTS

MAX_SCRATCH_STAGES: Final = 2_000
"""All rounds together; the limit on runs applies, too."""


def check_scratch(plan: CampaignPlan) -> None:
    """Check the block before it is expanded; raise an error with its field."""
    scratch = plan.scratch
    place = None if scratch is None else scratch.place
    for index, name in enumerate(plan.targets):
        if "/" in name and name != place:
            raise SCRATCH_TARGET(field=f"targets[{index}]", name=name)
    if scratch is None:
        return
    if plan.stages:
        raise SCRATCH_AND_STAGES()
    stages = combination_count(scratch) * scratch.rounds
    if stages > MAX_SCRATCH_STAGES:
        raise SCRATCH_TOO_LARGE(stages=stages, allowed=MAX_SCRATCH_STAGES)
    if plan.adaptive is not None and scratch.rounds > 1:
        raise SCRATCH_AND_ADAPTIVE(rounds=scratch.rounds)
    if plan.repeats % scratch.rounds:
        raise SCRATCH_ROUNDS(rounds=scratch.rounds, repeats=plan.repeats)


def check_expansion(scratch: ScratchPlan, expansion: Expansion) -> None:
    """Raise REPEATED_ENTRY, SCRATCH_EMPTY or SCRATCH_IMPOSSIBLE."""
    seen: set[str] = set()
    made, impossible = expansion.cells, expansion.impossible
    for variant in [*(cell.variant for cell in made), *(cell.variant for cell in impossible)]:
        if variant in seen:
            raise REPEATED_ENTRY(field="scratch", value=variant)
        seen.add(variant)
    reasons = [f"{reason} ({', '.join(named)})" for reason, named in expansion.impossible_by_reason().items()]
    if not made:
        raise SCRATCH_EMPTY(reasons=reasons)
    if reasons and not scratch.except_impossible:
        raise SCRATCH_IMPOSSIBLE(count=len(impossible), total=len(seen), reasons=reasons)


def check_clients(plan: CampaignPlan, clients: Collection[str], *, is_local: bool) -> None:
    """Raise SCRATCH_SERVES if the export has no clients or too many, or if runs on it could overlap local ones."""
    if plan.scratch is None or plan.scratch.serves is None:
        return
    if not clients:
        problem = f"no workload loads a target other than {plan.scratch.place}"
        raise SCRATCH_SERVES(problem=problem, remedy="add the target of the clients to targets, or remove serves")
    if len(clients) > MOST_CLIENTS:
        problem = f"{len(clients)} clients; a set is exported to at most {MOST_CLIENTS}"
        raise SCRATCH_SERVES(problem=problem, remedy="name fewer nodes for the target of the clients")
    if is_local and plan.exclusive is not Exclusivity.CLUSTER:
        problem = f"runs on {plan.scratch.node} and on the clients would load the same disks at once"
        raise SCRATCH_SERVES(problem=problem, remedy="set exclusive: cluster, or measure one of them only")
