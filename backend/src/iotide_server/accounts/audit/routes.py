"""API of the audit log."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from iotide_server.accounts.audit import reading as audit_reading
from iotide_server.accounts.audit.schemas import AuditEntryOutput, AuditFile, AuditFilter
from iotide_server.accounts.roles.heavy import ONE_HEAVY_REQUEST
from iotide_server.accounts.roles.rules import Admin
from iotide_server.kit.db import DATABASE
from iotide_server.kit.pagination import Page, Paging
from iotide_server.kit.web import Tx, errors

router = APIRouter(prefix="/audit", tags=["accounts"])

Wanted = Annotated[AuditFilter, Depends()]
_CSV_EXAMPLE = "id,at,principal_kind\n7,2026-11-21T10:00:00+00:00,user\n"
_FILES: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "content": {
            "text/csv": {"schema": {"type": "string"}, "example": _CSV_EXAMPLE},
            AuditFile.JSON_LINES.media_type: {"schema": {"type": "string"}, "example": '{"id": 7}\n'},
        }
    }
}


@router.get("", summary="List audit entries", responses=errors(404))
def list_audit(principal: Admin, session: Tx, wanted: Wanted, paging: Paging) -> Page[AuditEntryOutput]:
    """Changes in the clusters that you administer, newest first."""
    return audit_reading.page(session, principal, wanted, paging).page(AuditEntryOutput.model_validate)


@router.get(
    "/export",
    summary="Export audit entries",
    response_class=StreamingResponse,
    responses={**errors(404, 429), **_FILES},
    dependencies=[ONE_HEAVY_REQUEST],
)
def export_audit(
    principal: Admin,
    session: Tx,
    request: Request,
    wanted: Wanted,
    written_as: Annotated[
        AuditFile, Query(alias="format", description="CSV, or one JSON object per line")
    ] = AuditFile.CSV,
) -> StreamingResponse:
    """All entries that match the filter, newest first. In CSV, `before` and `after` are JSON."""
    del session  # authenticates the caller; the export has its own transactions
    clusters = audit_reading.readable(principal, wanted)
    lines = audit_reading.written(DATABASE.of(request.app.state), clusters, wanted, written_as)
    headers = {"Content-Disposition": f'attachment; filename="audit.{written_as.value}"'}
    return StreamingResponse(lines, media_type=written_as.media_type, headers=headers)
