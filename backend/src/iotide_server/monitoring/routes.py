"""Route of the metrics."""

from typing import Annotated, Final

from fastapi import APIRouter, Header, Query, Request
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.responses import Response

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.rules import Viewer
from iotide_server.kit.app_values import AppValue

METRICS: Final[AppValue[CollectorRegistry]] = AppValue("metrics")
METRICS_OF_NODES: Final[AppValue[CollectorRegistry]] = AppValue("metrics_of_nodes")


router = APIRouter(tags=["operations"])


@router.get("/metrics", include_in_schema=False)
def get_metrics(
    principal: Viewer,
    request: Request,
    *,
    nodes: Annotated[bool, Query(description="Add a series for each node")] = False,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Requires a viewer of all clusters, as the metrics name them all. OpenMetrics, or the older text format."""
    principal.require(Role.VIEWER, None)
    state = request.app.state
    encode, content_type = choose_encoder(accept)
    content = encode(METRICS_OF_NODES.of(state) if nodes else METRICS.of(state))
    return Response(content, headers={"Content-Type": content_type, "Cache-Control": "no-store"})
