"""What can go wrong with accounts."""

from datetime import datetime

from iotide_server.kit.errors import (
    ConflictError,
    InvalidInputError,
    NotAllowedError,
    NotAuthenticatedError,
    NotFoundError,
    TooManyRequestsError,
)


class ClusterPublishedError(ConflictError):
    """Nobody changes what others measured and published, and nothing runs there."""

    code = "cluster_published"

    def __init__(self, name: str, *, field: str = "cluster") -> None:
        super().__init__(
            f"the cluster {name} holds published results, which nobody changes",
            field=field,
            value=name,
            remedy="name a cluster of your own; `iotide-server forget-published` removes all published results",
        )


class WrongCredentialsError(NotAuthenticatedError):
    """Name and password do not belong together; the same whether the name or the password is wrong."""

    code = "wrong_credentials"

    def __init__(self) -> None:
        super().__init__("name or password is wrong", remedy="try again, or ask an administrator for a sign-in link")


class TooManyAttemptsError(TooManyRequestsError):
    """Too many proofs of identity were wrong lately; none is looked at for a while, not even a right one."""

    code = "too_many_attempts"

    def __init__(self, wait_seconds: int) -> None:
        super().__init__(
            f"too many attempts failed; the next one is looked at in {wait_seconds} s",
            wait_seconds,
            remedy="wait so long, then try again",
        )


class LinkSpentError(NotAuthenticatedError):
    """A sign-in link that is unknown, expired or used."""

    code = "link_spent"

    def __init__(self) -> None:
        super().__init__(
            "the sign-in link is unknown, expired or was used before",
            remedy="ask an administrator for a new one, or run `iotide-server admin-link` on the server",
        )


class PersonWantedError(NotAllowedError):
    """Something that a person does in the browser, and no program by a token."""

    code = "person_wanted"

    def __init__(self, what: str) -> None:
        super().__init__(f"an API token cannot {what}", remedy="sign in with a browser")


class SessionNotFoundError(NotFoundError):
    """No such session of the caller's."""

    code = "session_not_found"

    def __init__(self, session_id: int) -> None:
        super().__init__(f"you have no session {session_id}", field="session_id", value=session_id)


class PasswordElsewhereError(ConflictError):
    """The person signs in at the OpenID provider, which alone decides whether they still may."""

    code = "password_elsewhere"

    def __init__(self) -> None:
        super().__init__(
            "you sign in with your organisation's account, which has the password",
            remedy="change it there",
        )


class TokenNotFoundError(NotFoundError):
    """No such API token of the caller's."""

    code = "token_not_found"

    def __init__(self, token_id: int) -> None:
        super().__init__(f"you have no API token {token_id}", field="token_id", value=token_id)


class UserNotFoundError(NotFoundError):
    """No such user."""

    code = "user_not_found"

    def __init__(self, user_id: int) -> None:
        super().__init__(f"there is no user {user_id}", field="user_id", value=user_id)


class UserNameTakenError(ConflictError):
    """Another user has the name."""

    code = "user_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is a user {name} already", field="name", value=name, remedy="choose another name")


class OwnAccountError(ConflictError):
    """Administrators neither lock themselves out nor let themselves in."""

    code = "own_account"

    def __init__(self, user_id: int, what: str) -> None:
        super().__init__(
            f"you cannot {what}", field="user_id", value=user_id, remedy="ask another administrator to do it"
        )


class ExpiryPassedError(InvalidInputError):
    """Something would have expired before it was made."""

    code = "expiry_passed"

    def __init__(self, expires_at: datetime) -> None:
        super().__init__(
            f"expires_at: {expires_at} has passed",
            field="expires_at",
            value=expires_at,
            remedy="give a time to come, or null for a token that does not expire",
        )


class GrantOfUnknownClusterError(NotFoundError):
    """A role in a cluster that does not exist."""

    code = "cluster_not_found"

    def __init__(self, cluster_ids: list[int]) -> None:
        super().__init__(
            f"there is no cluster {', '.join(map(str, sorted(cluster_ids)))}", field="roles", value=min(cluster_ids)
        )
