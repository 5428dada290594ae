"""Routes of surfaces: one number over file size and record size."""

from typing import Annotated

from fastapi import APIRouter, Depends

from iotide_server.accounts.roles.rules import Viewer
from iotide_server.kit.pagination import Page
from iotide_server.kit.web import Tx, errors
from iotide_server.results.surfaces import service as surface
from iotide_server.results.surfaces.schemas import Surface, SurfaceSource
from iotide_server.results.surfaces.service import SurfaceChoice

router = APIRouter(tags=["results"])


@router.get("/surface-sources", summary="List what has a surface")
def list_surface_sources(principal: Viewer, session: Tx) -> Page[SurfaceSource]:
    """The newest cells of each place whose runs go through both sizes, and campaigns that sweep both."""
    return Page(items=surface.sources(session, principal), next_cursor=None)


@router.get("/surface", summary="Show a surface", responses=errors(404))
def get_surface(principal: Viewer, session: Tx, wanted: Annotated[SurfaceChoice, Depends()]) -> Surface:
    """Median, range and runs at each file size and record size, with its cliffs; and B in terms of A where B is named.

    A source is `run-12`, `campaign-5`, or cells of it: `campaign-5.1.2`. Of a campaign with several places, workloads
    or options its first part is shown and the others are named. Where nothing was measured a cell is null.
    """
    return surface.surface(session, principal, wanted)
