"""What the API takes and gives for signing in and for sessions."""

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
    """What stands behind `#token=` in a sign-in link."""

    token: Annotated[str, Field(max_length=200, examples=["kX3mBv0uJqTn6dYw2eRz8cPs5aLf1hGi9oUt7xZbNQ"])]


class CredentialsInput(Input):
    """Name and password."""

    name: Annotated[str, Field(max_length=200, examples=["grace"])]
    password: GivenPassword


class PasswordInput(Input):
    """A new password; `old_password` is null for who had none."""

    old_password: GivenPassword | None
    new_password: NewPassword


class CallerOutput(Output):
    """Who is calling."""

    kind: PrincipalKind
    id: Annotated[int | None, Field(description="Of the user or the API token")]
    name: Annotated[str, Field(examples=["grace"])]
    roles: list[RoleGrantOutput]


class SessionState(Output):
    """A session."""

    principal: CallerOutput

    @classmethod
    def of(cls, caller: Caller) -> "SessionState":
        roles = [RoleGrantOutput(cluster_id=cluster_id, role=role) for cluster_id, role in caller.grants.items()]
        return cls(principal=CallerOutput(kind=caller.kind, id=caller.id, name=caller.name, roles=roles))


class SignInWays(Output):
    """How people get in here."""

    provider_name: Annotated[
        str | None, Field(description="Of the OpenID provider; null where there is none", examples=["Campus login"])
    ]
    is_open_for_reading: Annotated[bool, Field(description="Whether everybody may look at all without signing in")]


class SignedOut(Output):
    """The session has ended."""

    provider_url: Annotated[
        str | None,
        Field(description="Where the browser signs out of the OpenID provider, too; null: nothing to do there"),
    ]


class BrowserSession(Output):
    """A signed-in browser."""

    id: int
    created_at: datetime
    last_seen_at: Annotated[datetime, Field(description="To the minute")]
    expires_at: Annotated[datetime, Field(description="However much it is used; earlier when it is not")]
    address: Annotated[str | None, Field(examples=["192.0.2.7"])]
    browser: Annotated[str | None, Field(description="What it calls itself, the header User-Agent")]
    begun_by: Literal["link", "password", "provider"]
    is_this_one: Annotated[bool, Field(description="Whether this request came by it")]

    @classmethod
    def of(cls, row: models.UserSession, caller: Caller) -> "BrowserSession":
        return cls.of_row(row, is_this_one=row.id == caller.session_id)


class BrowserSessions(Output):
    """All signed-in browsers of the caller, the one last seen first."""

    items: list[BrowserSession]


class SessionsEnded(Output):
    """How many sessions ended."""

    count: int
