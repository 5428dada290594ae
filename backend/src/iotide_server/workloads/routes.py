"""Routes of the workload catalogue."""

from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.roles.rules import Viewer
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.web import Tx
from iotide_server.workloads import service
from iotide_server.workloads.schemas import WorkloadOutput

router = APIRouter(tags=["workloads"])


@router.get("/workloads", summary="List workloads")
def list_workloads(
    principal: Viewer,
    session: Tx,
    paging: Paging,
    *,
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only workloads of its nodes")] = None,
    with_former: Annotated[bool, Query(description="Also workloads of campaigns that no node has any more")] = False,
) -> Page[WorkloadOutput]:
    """Return the workloads that visible agents can run now, with the JSON Schema of their options."""
    return service.catalogue(session, principal, cluster_id, paging, with_former=with_former)
