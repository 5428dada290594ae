"""Names of people in answers, which nobody gets to see who is not signed in.

A stored sentence names nobody: it says `an operator`, and a column of its row says who that is, as `user:7` or
`token:3`. The function `worded` of the database puts the name in for readers who may know it.
"""

from contextvars import ContextVar
from typing import Annotated, Final, NamedTuple

from pydantic import PlainSerializer

_IS_HIDDEN: Final[ContextVar[bool]] = ContextVar("people_are_hidden", default=False)
"""Of the request: each is a task of its own, and what its rule sets holds until its answer is written."""


OPERATOR: Final = "an operator"  # who did it, in every stored sentence; `worded` replaces the first of them by the name


class Sentence(NamedTuple):
    """Words to store."""

    words: str
    actor: str | None  # whom they call `an operator`, as `Principal.actor` has it


def hide_people() -> None:
    """Leave the names of people out of this request's answer; called by its rule, on the request's own task."""
    _IS_HIDDEN.set(True)


def are_shown() -> bool:
    """Return false where this request's answer may name nobody."""
    return not _IS_HIDDEN.get()


def named(name: str) -> str:
    """Return the name for a sentence of this request's answer, or `an operator` where it may name nobody."""
    return name if are_shown() else OPERATOR


def _shown(name: str | None) -> str | None:
    return name if are_shown() else None


PersonShown = Annotated[str | None, PlainSerializer(_shown, return_type=str | None)]
"""A field of an answer that names a person; null where that person is gone, or the reader is nobody."""
