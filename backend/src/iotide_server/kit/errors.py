"""Errors as data: each module has a table of error kinds."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from string import Formatter
from typing import Any, Final, Self

from iotide_server.kit.clock import written
from iotide_wire.units import format_bytes, format_seconds


class IotideError(Exception):
    status = 400
    code = "bad_request"
    usual_remedy: str | None = None
    kind: "ErrorKind | None" = None
    wait_seconds: int | None = None

    def __init__(
        self, message: str, *, field: str | None = None, value: object = None, remedy: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field  # path of the invalid input: `workloads[0].options.file_size_bytes`
        self.value = value
        self.remedy = remedy or self.usual_remedy


class InvalidInputError(IotideError):
    status = 422
    code = "invalid_input"


class NotFoundError(IotideError):
    status = 404
    code = "not_found"
    usual_remedy = "check the list of objects that you have access to"


class ConflictError(IotideError):
    status = 409
    code = "conflict"


class NotAuthenticatedError(IotideError):
    status = 401
    code = "not_authenticated"


class NotAllowedError(IotideError):
    status = 403
    code = "not_allowed"


class TooManyRequestsError(IotideError):
    status = 429
    code = "too_many_requests"


@dataclass(frozen=True)
class ErrorKind:
    """One kind of error; call it with the template values to create the error to raise.

    Templates have values in braces: `{run_id}`, or with a format of `_FORMATS` or Python: `{size:bytes}`. If a
    template is just `{field}` or `{remedy}`, each call supplies its own.
    """

    status: int
    code: str
    field: str | None = None  # a call may override it
    # name or template of the shown value; default: the one named like the field, "": none
    shows: str | None = None
    message: str = ""
    remedy: str | None = None

    def says(self, message: str, remedy: str | None = None) -> Self:
        return replace(self, message=message, remedy=remedy)

    def __call__(
        self, *, field: str | None = None, remedy: str | None = None, wait_seconds: int | None = None, **named: object
    ) -> IotideError:
        """Raise KeyError if a template value is missing."""
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
    """Prefix the field of errors raised in the block with `field`."""
    try:
        yield
    except IotideError as error:
        if error.field is not None:
            error.field = f"{field}.{error.field}"
        raise
