"""Routes of published results."""

from fastapi import APIRouter

from iotide_server.accounts.roles.rules import Viewer
from iotide_server.kit.web import Tx
from iotide_server.published import service
from iotide_server.published.schemas import PublishedSources

router = APIRouter(tags=["published results"])


@router.get("/published-sources", summary="List published sources")
def list_published_sources(principal: Viewer, session: Tx) -> PublishedSources:
    """Return published measurements of others with campaigns and caveats, readable with any role.

    Empty until an administrator runs `iotide-server load-published`.
    """
    del principal
    return service.list_sources(session)
