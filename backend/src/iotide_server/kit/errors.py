"""Business failures: each class holds its HTTP status and a stable code; the edge turns them into one error body."""

from typing import ClassVar


class IotideError(Exception):
    """A request cannot be served, and the caller can be told why.

    Attributes:
        status: HTTP status.
        code: stable, for programs.
        field: dotted path of the input it is about, for instance `workloads[0].options.file_size_bytes`.
        value: what was given there.
        remedy: what to do about it; where nothing better is known, the class's usual remedy.
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"
    usual_remedy: ClassVar[str | None] = None

    def __init__(
        self, message: str, *, field: str | None = None, value: object = None, remedy: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.value = value
        self.remedy = remedy or self.usual_remedy


class InvalidInputError(IotideError):
    """Malformed input."""

    status = 422
    code = "invalid_input"


class NotFoundError(IotideError):
    """No such thing, or none that the caller may see."""

    status = 404
    code = "not_found"
    usual_remedy = "look it up in the list of those that you may see"


class ConflictError(IotideError):
    """The input is well formed but the state of things forbids it."""

    status = 409
    code = "conflict"


class NotAuthenticatedError(IotideError):
    """Nobody proved who is calling."""

    status = 401
    code = "not_authenticated"


class NotAllowedError(IotideError):
    """The caller is known and may not do this."""

    status = 403
    code = "not_allowed"


class TooManyRequestsError(IotideError):
    """The caller has to wait.

    Attributes:
        wait_seconds: until the same request may succeed; sent as the header Retry-After.
    """

    status = 429
    code = "too_many_requests"

    def __init__(self, message: str, wait_seconds: int, *, remedy: str) -> None:
        super().__init__(message, remedy=remedy)
        self.wait_seconds = wait_seconds
