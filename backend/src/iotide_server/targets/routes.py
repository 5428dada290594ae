"""Routes of targets."""

from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Operator, Viewer
from iotide_server.clusters.drains import service as drains
from iotide_server.clusters.drains.schemas import DrainInput, DrainOutput
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors
from iotide_server.targets import backing, service
from iotide_server.targets.schemas import (
    BackingInput,
    Candidate,
    TargetFacts,
    TargetInput,
    TargetOutput,
    TargetPatch,
    TargetPlace,
    TargetRef,
)

router = APIRouter(tags=["targets"], route_class=KnownCallerRoute)


@router.get("/targets", summary="List targets")
def list_targets(
    principal: Viewer,
    session: Tx,
    paging: Paging,
    *,
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only targets of this cluster")] = None,
    retired: Annotated[bool, Query(description="Retired targets instead of living ones")] = False,
) -> Page[TargetOutput]:
    """Return the targets that you may see, newest first."""
    return service.list_targets(session, principal, cluster_id, paging, retired=retired).page(TargetOutput.of)


@router.post("/targets", summary="Create a target", status_code=201, responses=errors(404, 409))
def create_target(principal: Operator, session: Tx, now: Now, body: TargetInput) -> TargetOutput:
    """Every run must find what the agents last announced as mounted there."""
    return TargetOutput.of(service.create_target(session, principal, body, now))


@router.get("/clusters/{cluster_id}/candidates", summary="List candidates for targets", responses=errors(404))
def list_candidates(principal: Viewer, session: Tx, cluster_id: Id) -> list[Candidate]:
    """Return approved directories that belong to no target. A shared file system of many nodes is one candidate."""
    found, names = service.candidates(session, principal, cluster_id)
    return [Candidate.of(one, names) for one in found]


@router.get("/targets/{target_id}/facts", summary="Show the facts of a target", responses=errors(404))
def get_target_facts(principal: Viewer, session: Tx, target_id: Id) -> TargetFacts:
    """Return space, inodes, options and probed facts on each node, for the target and its backing."""
    view = service.target(session, principal, target_id)
    below = [backing_id for backing_id, _ in view.backed_by]
    suggested = backing.suggested_backing(session, view.target, [found.mount for found in view.mounts])
    return TargetFacts(
        places=[TargetPlace.of(place) for place in backing.places_of(session, [target_id])],
        backing=[TargetPlace.of(place) for place in backing.places_of(session, below)],
        suggested_backing=[TargetRef(id=one.id, name=one.name) for one in suggested],
    )


@router.put("/targets/{target_id}/backed-by", summary="Set the backing of a target", responses=errors(404, 409))
def set_backing(principal: Operator, session: Tx, target_id: Id, body: BackingInput) -> TargetOutput:
    """Replace the targets whose facts go with this target's runs. Refused if the target would back itself."""
    backing.set_backing(session, principal, target_id, list(dict.fromkeys(body.targets)))
    return TargetOutput.of(service.target(session, principal, target_id))


@router.get("/targets/{target_id}", summary="Show a target", responses=errors(404))
def get_target(principal: Viewer, session: Tx, target_id: Id) -> TargetOutput:
    """Return a target with its mounts."""
    return TargetOutput.of(service.target(session, principal, target_id))


@router.patch("/targets/{target_id}", summary="Change a target", responses=errors(404, 409))
def change_target(principal: Operator, session: Tx, now: Now, target_id: Id, body: TargetPatch) -> TargetOutput:
    """Change name, reserve, policy or nodes. `nodes` accepts changed mounts; `elsewhere` alone adds nodes."""
    changes = {
        field: value
        for field, value in body.model_dump(exclude_unset=True, exclude={"nodes", "elsewhere"}).items()
        if field == "reserve_bytes" or value is not None
    }
    if body.nodes is not None:
        service.mount_on(session, principal, target_id, body.places(), now)
    elif body.elsewhere:
        paths = {place.node_id: place.path for place in body.elsewhere}
        service.mount_also_on(session, principal, target_id, paths, now)
    return TargetOutput.of(service.change_target(session, principal, target_id, changes))


@router.delete("/targets/{target_id}", summary="Retire a target", status_code=204, responses=errors(404, 409))
def retire_target(principal: Operator, session: Tx, now: Now, target_id: Id) -> None:
    """No new run uses the target; its results stay. Refused while runs need it."""
    service.retire_target(session, principal, target_id, now)


@router.put("/targets/{target_id}/drain", tags=["drains"], summary="Drain a target", responses=errors(404))
def drain_target(principal: Operator, session: Tx, now: Now, target_id: Id, body: DrainInput) -> DrainOutput:
    """No new run loads it, on any node; active runs continue."""
    subject = service.drain_subject(session, principal, target_id)
    return drains.drain(session, principal, subject, body, now)


@router.delete(
    "/targets/{target_id}/drain", tags=["drains"], summary="Resume a target", status_code=204, responses=errors(404)
)
def resume_target(principal: Operator, session: Tx, target_id: Id) -> None:
    """End the target's drain, if any."""
    drains.resume(session, principal, service.drain_subject(session, principal, target_id))
