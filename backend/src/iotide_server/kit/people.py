"""Hides people's names from readers who are not signed in.

Stored sentences say `an operator`, and a column holds the actor (`user:7`, `token:3`). The database function `worded`
inserts the name for readers who may see it.
"""

from contextvars import ContextVar
from typing import Annotated, Final, NamedTuple

from pydantic import PlainSerializer

_IS_HIDDEN: Final[ContextVar[bool]] = ContextVar("people_are_hidden", default=False)


OPERATOR: Final = "an operator"


class Sentence(NamedTuple):
    words: str
    actor: str | None


def hide_people() -> None:
    """Hide people's names in this request's response. Call it in the request's own task."""
    _IS_HIDDEN.set(True)


def are_shown() -> bool:
    return not _IS_HIDDEN.get()


def named(name: str) -> str:
    """Return the name, or `an operator` if the response may not contain names."""
    return name if are_shown() else OPERATOR


def _shown(name: str | None) -> str | None:
    return name if are_shown() else None


PersonShown = Annotated[str | None, PlainSerializer(_shown, return_type=str | None)]
"""Name of a person; null if deleted or hidden from the reader."""
