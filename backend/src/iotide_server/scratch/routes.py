"""Routes of scratch sets."""

from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Admin, Viewer
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors
from iotide_server.scratch import service
from iotide_server.scratch.schemas import EnableInput, ScratchSetOutput
from iotide_server.scratch.stripes import StripesOutput, stripes
from iotide_wire.scratch_vocabulary import Filesystem

router = APIRouter(tags=["scratch"], route_class=KnownCallerRoute)


@router.get("/scratch-sets", summary="List scratch sets")
def list_scratch_sets(
    principal: Viewer,
    session: Tx,
    paging: Paging,
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only sets of this cluster")] = None,
    node_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only sets of this node")] = None,
) -> Page[ScratchSetOutput]:
    """Return the sets that you may see, newest first."""
    return service.list_sets(session, principal, cluster_id, node_id, paging)


@router.post("/scratch-sets/{set_id}/enable", summary="Enable a scratch set", responses=errors(404, 409))
def enable_scratch_set(principal: Admin, session: Tx, now: Now, set_id: Id, body: EnableInput) -> ScratchSetOutput:
    """Allow operators of the cluster to erase its disks again and again, and create its target.

    Refused if its disks are not those of `disks_sha256`. If its disks change later, enable it again.
    """
    return service.enable(session, principal, set_id, body, now)


@router.post("/scratch-sets/{set_id}/disable", summary="Disable a scratch set", responses=errors(404, 409))
def disable_scratch_set(principal: Admin, session: Tx, set_id: Id) -> ScratchSetOutput:
    """Nothing may use it. Its target and its results stay. Refused while a campaign uses it."""
    return service.disable(session, principal, set_id)


@router.get("/stripes", summary="Calculate the stripes of a layout")
def show_stripes(
    _principal: Viewer,
    layout: Annotated[
        str,
        Query(max_length=100, description="As `iotide stripe` reads it", examples=["raid5:4x64K"]),
    ],
    filesystem: Annotated[
        list[Filesystem] | None, Query(max_length=len(Filesystem), description="Default: ext4 and xfs")
    ] = None,
) -> StripesOutput:
    """Return stripes, alignments and mkfs commands. Needs no disks and stores nothing."""
    return stripes(layout, filesystem)
