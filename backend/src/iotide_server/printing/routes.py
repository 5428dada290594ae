"""Routes of reports as PDF."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from pydantic import Field
from starlette.types import Receive, Scope, Send

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Person
from iotide_server.campaigns import reading as campaigns
from iotide_server.kit.pagination import LARGEST_ID
from iotide_server.kit.web import Id, Tx, errors
from iotide_server.kit.zones import zone_named
from iotide_server.printing.devtools import Json
from iotide_server.printing.printer import PRINTER
from iotide_server.trends.comparison import service as comparison
from iotide_server.trends.comparison.schemas import SidesChoice

router = APIRouter(tags=["campaigns"], route_class=KnownCallerRoute)

_MEDIA_TYPE: Final = "application/pdf"
_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    **errors(404, 409, 429, 503),
    200: {"content": {_MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}},
}
_KnownId = Annotated[int, Field(ge=1, le=LARGEST_ID)]


@dataclass(frozen=True, slots=True)
class Display:
    """Display preferences, like those that the dashboard stores in the browser."""

    zone: Annotated[str, Query(max_length=100, description="Time zone of times", examples=["Europe/Zurich"])] = "UTC"
    rates: Annotated[
        Literal["decimal", "binary", "bits"], Query(description="Unit of rates: MB/s, MiB/s or Mbit/s")
    ] = "decimal"

    def preferences(self) -> Json:
        """Raise TIME_ZONE_UNKNOWN."""
        return {"zone": zone_named(self.zone, field="zone").key, "rates": self.rates}


class PrintedPage(Response):
    """Prints when it is sent, after the transaction of the route: the page sends requests of its own."""

    media_type = _MEDIA_TYPE

    def __init__(self, request: Request, path: str, display: Display, file_name: str) -> None:
        PRINTER.of(request.app.state).require()
        self._request, self._path, self._display = request, path, display.preferences()
        super().__init__(headers={"Content-Disposition": f'attachment; filename="{file_name}.pdf"'})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body = await PRINTER.of(self._request.app.state).pdf(self._request, self._path, self._display)
        self.headers["Content-Length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


@router.get(
    "/campaigns/{campaign_id}/report.pdf",
    summary="Print the report of a campaign",
    status_code=200,
    response_class=PrintedPage,
    responses=_RESPONSES,
)
def get_campaign_report(
    principal: Person, session: Tx, request: Request, campaign_id: Id, display: Annotated[Display, Depends()]
) -> PrintedPage:
    """Return the report page as a PDF of A4 pages. Requires Chromium on the server."""
    campaign = campaigns.visible_campaign(session, principal, campaign_id)
    return PrintedPage(request, f"/campaigns/{campaign_id}/report", display, f"{campaign.name}-{campaign_id}")


@router.get(
    "/comparison/report.pdf",
    summary="Print the report of a comparison",
    status_code=200,
    response_class=PrintedPage,
    responses=_RESPONSES,
)
def get_comparison_report(
    principal: Person,
    session: Tx,
    request: Request,
    sides: Annotated[SidesChoice, Depends()],
    display: Annotated[Display, Depends()],
    a: Annotated[_KnownId | None, Query(description="Campaign A of a pair, instead of `campaign` or `cell`")] = None,
    b: Annotated[_KnownId | None, Query(description="Campaign B of a pair")] = None,
    a_cell: Annotated[_KnownId | None, Query(description="Ordinal of a single cell of A")] = None,
    b_cell: Annotated[_KnownId | None, Query(description="Ordinal of a single cell of B")] = None,
    metric: Annotated[str | None, Query(max_length=200, description="Metric of the figures")] = None,
) -> PrintedPage:
    """Return the report page of a comparison as a PDF of A4 pages. Requires Chromium on the server."""
    pair = {"a": a, "b": b, "a_cell": a_cell, "b_cell": b_cell}
    if a is not None and b is not None:
        for campaign_id in (a, b):
            campaigns.visible_campaign(session, principal, campaign_id)
        shown: dict[str, object] = {**pair, "metric": metric}
    else:
        comparison.visible_campaigns(session, principal, sides)
        named = {"campaigns": sides.campaign, "cells": sides.cell}
        shown = {**named, "by": sides.by, "against": sides.against, "metric": metric}
    return PrintedPage(request, f"/compare/report?{_search(shown)}", display, "comparison")


def _search(values: Mapping[str, object]) -> str:
    """Return the parameters as the dashboard's router reads them: each value is JSON."""
    return urlencode({name: json.dumps(value) for name, value in values.items() if value is not None})
