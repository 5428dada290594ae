"""Names of people in answers, which nobody gets to see who is not signed in."""

from contextvars import ContextVar
from typing import Annotated, Final

from pydantic import PlainSerializer

_IS_HIDDEN: Final[ContextVar[bool]] = ContextVar("people_are_hidden", default=False)
"""Of the request: each is a task of its own, and what its rule sets holds until its answer is written."""


def hide_people() -> None:
    """Leave the names of people out of this request's answer; called by its rule, on the request's own task."""
    _IS_HIDDEN.set(True)


def _shown(name: str | None) -> str | None:
    return None if _IS_HIDDEN.get() else name


PersonShown = Annotated[str | None, PlainSerializer(_shown, return_type=str | None)]
"""A field of an answer that names a person; null where that person is gone, or the reader is nobody."""
