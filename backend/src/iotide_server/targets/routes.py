"""Routes of targets."""

from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.rules import Operator, Viewer
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors
from iotide_server.targets import service
from iotide_server.targets.schemas import Target, TargetInput, TargetPatch
from iotide_server.targets.service import TargetFilter

router = APIRouter(tags=["targets"])


@router.get("/targets", summary="List targets")
def list_targets(
    principal: Viewer,
    session: Tx,
    paging: Paging,
    *,
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only targets of this cluster")] = None,
    retired: Annotated[bool, Query(description="Retired targets instead of living ones")] = False,
) -> Page[Target]:
    """The targets that you may see, newest first."""
    return service.list_targets(session, principal, TargetFilter(cluster_id, retired), paging).page(Target.of)


@router.post("/targets", summary="Create a target", status_code=201, responses=errors(404, 409))
def create_target(principal: Operator, session: Tx, now: Now, body: TargetInput) -> Target:
    """What is mounted there now, by each agent's last word, is what every run must find."""
    return Target.of(service.create_target(session, principal, body.plan(), now))


@router.get("/targets/{target_id}", summary="Show a target", responses=errors(404))
def get_target(principal: Viewer, session: Tx, target_id: Id) -> Target:
    """One target with its mounts."""
    return Target.of(service.target(session, principal, target_id))


@router.patch("/targets/{target_id}", summary="Change a target", responses=errors(404, 409))
def change_target(principal: Operator, session: Tx, now: Now, target_id: Id, body: TargetPatch) -> Target:
    """Name, reserve and nodes; naming its nodes again accepts mounts that have changed."""
    changes = {
        field: value
        for field, value in body.model_dump(exclude_unset=True, exclude={"nodes"}).items()
        if field != "name" or value is not None
    }
    if body.nodes is not None:
        service.mount_on(session, principal, target_id, list(dict.fromkeys(body.nodes)), now)
    return Target.of(service.change_target(session, principal, target_id, changes))


@router.delete("/targets/{target_id}", summary="Retire a target", status_code=204, responses=errors(404, 409))
def retire_target(principal: Operator, session: Tx, now: Now, target_id: Id) -> None:
    """No new run loads it; its results stay. Refused while runs need it."""
    service.retire_target(session, principal, target_id, now)
