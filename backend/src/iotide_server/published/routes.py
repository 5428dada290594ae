"""Routes of published results."""

from fastapi import APIRouter

from iotide_server.accounts.roles.rules import Viewer
from iotide_server.kit.web import Tx
from iotide_server.published import service
from iotide_server.published.schemas import PublishedSources

router = APIRouter(tags=["published results"])


@router.get("/published-sources", summary="List published sources")
def list_published_sources(principal: Viewer, session: Tx) -> PublishedSources:
    """What others measured, with its campaigns and what to know of it; everybody with a role in any cluster sees all.

    Empty until an administrator has run `iotide-server load-published`.
    """
    del principal
    return service.list_sources(session)
