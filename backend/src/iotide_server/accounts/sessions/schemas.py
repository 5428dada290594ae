"""API schemas of sign-in and sessions."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from iotide_server.accounts import models
from iotide_server.accounts.roles.principal import Principal as Caller
from iotide_server.accounts.roles.principal import PrincipalKind
from iotide_server.accounts.schemas import RoleGrantOutput
from iotide_server.kit.web import Input, Output

NewPassword = Annotated[str, Field(min_length=10, max_length=200, examples=["correct horse battery"])]
GivenPassword = Annotated[str, Field(max_length=200, examples=["correct horse battery"])]


class LinkInput(Input):
    """Secret after `#token=` in a sign-in link."""

    token: Annotated[str, Field(max_length=200, examples=["kX3mBv0uJqTn6dYw2eRz8cPs5aLf1hGi9oUt7xZbNQ"])]


class CredentialsInput(Input):
    """Name and password."""

    name: Annotated[str, Field(max_length=200, examples=["grace"])]
    password: GivenPassword


class PasswordInput(Input):
    """New password. `old_password` is null if none was set."""

    old_password: GivenPassword | None
    new_password: NewPassword


class CallerOutput(Output):
    """Caller of a request."""

    kind: PrincipalKind
    id: Annotated[int | None, Field(description="Id of the user or API token")]
    name: Annotated[str, Field(examples=["grace"])]
    roles: list[RoleGrantOutput]


class SessionState(Output):
    """Session."""

    principal: CallerOutput

    @classmethod
    def of(cls, caller: Caller) -> "SessionState":
        roles = [RoleGrantOutput(cluster_id=cluster_id, role=role) for cluster_id, role in caller.grants.items()]
        return cls(principal=CallerOutput(kind=caller.kind, id=caller.id, name=caller.name, roles=roles))


class SignInWays(Output):
    """Available sign-in methods."""

    provider_name: Annotated[
        str | None, Field(description="Name of the OpenID provider; null if there is none", examples=["Campus login"])
    ]
    is_open_for_reading: Annotated[bool, Field(description="Whether everything is readable without signing in")]


class SignedOut(Output):
    """Result of signing out."""

    provider_url: Annotated[
        str | None,
        Field(description="Address for signing out of the OpenID provider too; null if not needed"),
    ]


class BrowserSession(Output):
    """Signed-in browser."""

    id: int
    created_at: datetime
    last_seen_at: Annotated[datetime, Field(description="To the minute")]
    expires_at: Annotated[datetime, Field(description="Latest end of the session; it ends earlier if unused")]
    address: Annotated[str | None, Field(examples=["192.0.2.7"])]
    browser: Annotated[str | None, Field(description="The browser's User-Agent header")]
    begun_by: Literal["link", "password", "provider"]
    is_this_one: Annotated[bool, Field(description="Whether this request belongs to this session")]

    @classmethod
    def of(cls, row: models.UserSession, caller: Caller) -> "BrowserSession":
        return cls.of_row(row, is_this_one=row.id == caller.session_id)


class BrowserSessions(Output):
    """The caller's signed-in browsers, most recently active first."""

    items: list[BrowserSession]


class SessionsEnded(Output):
    """Number of sessions that ended."""

    count: int
