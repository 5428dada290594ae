"""What can go wrong with accounts."""

from collections.abc import Collection
from datetime import datetime

from iotide_server.kit.clock import written
from iotide_server.kit.errors import (
    ConflictError,
    InvalidInputError,
    NotAllowedError,
    NotAuthenticatedError,
    NotFoundError,
    TooManyRequestsError,
)
from iotide_server.kit.suggest import choose_from
from iotide_server.kit.web import STORABLE_REMEDY


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


class OneAtATimeError(TooManyRequestsError):
    """A person asks for something heavy while another heavy request of the same person is under way."""

    code = "one_at_a_time"

    def __init__(self, wait_seconds: int) -> None:
        super().__init__(
            "another heavy request of yours is under way: a preview, a submission, a comparison or an export",
            wait_seconds,
            remedy="wait until it has ended, then try again",
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
    """No such API token that the caller may revoke."""

    code = "token_not_found"

    def __init__(self, token_id: int) -> None:
        super().__init__(f"you have no API token {token_id}", field="token_id", value=token_id)


class TokenExpiredError(NotAuthenticatedError):
    """An API token whose time is over; said only to who holds it."""

    code = "token_expired"

    def __init__(self, name: str, expired_at: datetime) -> None:
        super().__init__(
            f"the API token {name} expired on {written(expired_at)}",
            remedy="make a new one on the page Tokens of the settings",
        )


class UserNotFoundError(NotFoundError):
    """No such user."""

    code = "user_not_found"

    def __init__(self, user_id: int) -> None:
        super().__init__(f"there is no user {user_id}", field="user_id", value=user_id)


class UnknownUserNameError(NotFoundError):
    """No user has the name."""

    code = "user_not_found"

    def __init__(self, name: str, known: Collection[str]) -> None:
        super().__init__(f"there is no user {name}", field="name", value=name, remedy=choose_from(name, known))


class UserDisabledError(ConflictError):
    """A link would let nobody in."""

    code = "user_disabled"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is disabled and could not sign in",
            field="user_id",
            value=name,
            remedy="have an administrator enable them on the page People first",
        )


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


class CursorOfNothingError(InvalidInputError):
    """A list is to go on after what is not there."""

    def __init__(self, entry_id: int) -> None:
        remedy = "give next_cursor of the page before as is"
        super().__init__("cursor: not one of ours", field="cursor", value=entry_id, remedy=remedy)


class NoWordError(InvalidInputError):
    """A search for text in which there is no word."""

    def __init__(self, text: str) -> None:
        super().__init__(
            "text: there is no word in it", field="text", value=text, remedy="give a letter or a digit at least"
        )


class UnstorableFilterError(InvalidInputError):
    """A filter that nothing which was stored can match."""

    def __init__(self, field: str) -> None:
        super().__init__(f"{field}: nothing stored holds such characters", field=field, remedy=STORABLE_REMEDY)


class GrantOfUnknownClusterError(NotFoundError):
    """A role in a cluster that does not exist."""

    code = "cluster_not_found"

    def __init__(self, cluster_ids: list[int]) -> None:
        super().__init__(
            f"there is no cluster {', '.join(map(str, sorted(cluster_ids)))}", field="roles", value=min(cluster_ids)
        )
