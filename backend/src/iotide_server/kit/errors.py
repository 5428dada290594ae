"""Business failures as data: a slice has a table of kinds, and the edge turns each error into one body."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from string import Formatter
from typing import Any, Final, Self

from iotide_server.kit.clock import written
from iotide_wire.units import format_bytes, format_seconds


class IotideError(Exception):
    """A request cannot be served, and the caller can be told why."""

    status = 400  # of HTTP
    code = "bad_request"  # stable, for programs
    usual_remedy: str | None = None
    kind: "ErrorKind | None" = None  # the row of a table that it was made of, if any
    wait_seconds: int | None = None  # until the same request may succeed; sent as the header Retry-After

    def __init__(
        self, message: str, *, field: str | None = None, value: object = None, remedy: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message  # what is wrong, for a person
        self.field = field  # path of the input it is about, for instance `workloads[0].options.file_size_bytes`
        self.value = value  # what was given there
        self.remedy = remedy or self.usual_remedy  # what to do about it


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
    """The caller has to wait."""

    status = 429
    code = "too_many_requests"


@dataclass(frozen=True)
class ErrorKind:
    """Describe one way to fail; a call with the values of the templates returns the error to raise.

    A template has its values in braces, `{run_id}`. A format may follow, of `_FORMATS` or of Python: `{size:bytes}`.
    Where a template is `{field}` or `{remedy}` alone, each call gives its own.
    """

    status: int  # HTTP status, which also decides the class of the error
    code: str  # stable, for programs
    field: str | None = None  # template of the error's field; a call may give another one
    # name or template of the value that the error shows; by default the one named like the field, "" for none
    shows: str | None = None
    message: str = ""  # template of what is wrong
    remedy: str | None = None  # template of what to do about it; a call may give another one

    def says(self, message: str, remedy: str | None = None) -> Self:
        """Return this kind with a message and a remedy."""
        return replace(self, message=message, remedy=remedy)

    def __call__(
        self, *, field: str | None = None, remedy: str | None = None, wait_seconds: int | None = None, **named: object
    ) -> IotideError:
        """Return an error of this kind; KeyError where a value is missing that a template names."""
        field = field or (self.field and _filled(self.field, named))
        values = named | {"field": field, "wait_seconds": wait_seconds}
        error = _CLASSES.get(self.status, IotideError)(
            _filled(self.message, values),
            field=field,
            value=self._shown(values),
            remedy=remedy or (self.remedy and _filled(self.remedy, values)),
        )
        error.kind, error.status, error.code, error.wait_seconds = self, self.status, self.code, wait_seconds
        return error

    def names(self) -> set[str]:
        """Return the names of the values that a call has to give."""
        shown = {self._shows} if self._shows.isidentifier() else set()
        templates = filter(None, (self.message, self.field, self.remedy, self._shows))
        return shown | {name for template in templates for _, name, _, _ in Formatter().parse(template) if name}

    @property
    def _shows(self) -> str:
        if self.shows is None:
            return self.field if self.field is not None and self.field.isidentifier() else ""
        return self.shows

    def _shown(self, values: Mapping[str, object]) -> object:
        return values[self._shows] if self._shows.isidentifier() else _filled(self._shows, values) or None


_CLASSES: Final[Mapping[int, type[IotideError]]] = {
    error.status: error
    for error in (
        *(InvalidInputError, NotFoundError, ConflictError),
        *(NotAuthenticatedError, NotAllowedError, TooManyRequestsError),
    )
}


def _seconds(duration: timedelta | float) -> str:
    return format_seconds(duration.total_seconds() if isinstance(duration, timedelta) else duration)


def _names(named: Collection[object]) -> str:
    return ", ".join(map(str, named))


_FORMATS: Final[Mapping[str, Callable[[Any], str]]] = {
    "bytes": format_bytes,
    "seconds": _seconds,
    "time": written,
    "iso": datetime.isoformat,
    "names": _names,
    "sorted": lambda named: _names(sorted(named)),
    "clauses": "; ".join,
}


class _Templates(Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        write = _FORMATS.get(format_spec)
        return str(super().format_field(value, format_spec)) if write is None else write(value)


def _filled(template: str, values: Mapping[str, object]) -> str:
    return _Templates().vformat(template, (), values)


@contextmanager
def within(field: str) -> Iterator[None]:
    """Let errors about a part of the input name it from the whole on, in which it stands at `field`."""
    try:
        yield
    except IotideError as error:
        if error.field is not None:
            error.field = f"{field}.{error.field}"
        raise
