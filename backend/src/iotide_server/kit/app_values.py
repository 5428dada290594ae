"""Typed values in the application's state (`app.state`)."""

from typing import Generic, TypeVar, cast

from starlette.datastructures import State

T = TypeVar("T")


class AppValue(Generic[T]):
    def __init__(self, name: str) -> None:
        self._name = name

    def put(self, state: State, value: T) -> None:
        setattr(state, self._name, value)

    def of(self, state: State) -> T:
        return cast("T", getattr(state, self._name))

    def get(self, state: State) -> T | None:
        return cast("T | None", getattr(state, self._name, None))
