"""Routes of surfaces."""

from typing import Annotated

from fastapi import APIRouter, Depends

from iotide_server.accounts.roles.rules import Viewer
from iotide_server.kit.pagination import Page
from iotide_server.kit.web import Tx, errors
from iotide_server.results.surfaces import service as surface
from iotide_server.results.surfaces.schemas import Surface, SurfaceSource
from iotide_server.results.surfaces.service import SurfaceChoice

router = APIRouter(tags=["results"])


@router.get("/surface-sources", summary="List sources of surfaces")
def list_surface_sources(principal: Viewer, session: Tx) -> Page[SurfaceSource]:
    """Return the newest cells per node and target whose runs cover both sizes, and campaigns that sweep both."""
    return Page(items=surface.sources(session, principal), next_cursor=None)


@router.get("/surface", summary="Show a surface", responses=errors(404))
def get_surface(principal: Viewer, session: Tx, wanted: Annotated[SurfaceChoice, Depends()]) -> Surface:
    """Return median, range and runs at each file size and record size, with cliffs; optionally compare B with A.

    A source is `run-12`, `campaign-5`, or cells of it: `campaign-5.1.2`. Of a campaign with several places, workloads
    or option sets, the first part is returned and the others are listed.
    """
    return surface.surface(session, principal, wanted)
