"""API schemas of the audit log."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from fastapi import Query
from pydantic import Field

from iotide_server.accounts.roles.principal import PrincipalKind
from iotide_server.kit.db import Json
from iotide_server.kit.pagination import LARGEST_ID
from iotide_server.kit.web import Output
from iotide_wire.base import WrittenTime

_OptionalId = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filter of audit entries. Omitted parameters match everything."""

    actor: Annotated[
        str | None,
        Query(
            max_length=200,
            description="Name of the author, who may have used a token or a schedule",
            examples=["grace"],
        ),
    ] = None
    action: Annotated[str | None, Query(max_length=63, examples=["cluster_changed"])] = None
    subject_kind: Annotated[str | None, Query(max_length=63, examples=["cluster"])] = None
    subject_id: _OptionalId = None
    cluster_id: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="Only changes in this cluster", examples=[1])
    ] = None
    address: Annotated[
        str | None, Query(max_length=63, description="Address of the request", examples=["10.0.0.7"])
    ] = None
    since: Annotated[WrittenTime | None, Query(alias="from", description="At or after this time")] = None
    until: Annotated[WrittenTime | None, Query(alias="to", description="At or before this time")] = None
    text: Annotated[
        str | None,
        Query(
            max_length=100,
            description="Words, or prefixes of words, in action, actor, subject, address, before or after",
        ),
    ] = None


class AuditFile(StrEnum):
    """Format of an audit export."""

    CSV = "csv"
    JSON_LINES = "jsonl"

    @property
    def media_type(self) -> str:
        return "text/csv; charset=utf-8" if self is AuditFile.CSV else "application/jsonl"


class AuditEntryOutput(Output):
    """One audited change."""

    id: int
    at: datetime
    principal_kind: PrincipalKind
    principal_id: int | None
    principal_name: str
    address: Annotated[str | None, Field(description="Null for actions of the server and its commands")]
    action: Annotated[str, Field(examples=["cluster_changed"])]
    subject_kind: Annotated[str, Field(examples=["cluster"])]
    subject_id: int | None
    cluster_id: int | None
    before: Json | None
    after: Json | None
