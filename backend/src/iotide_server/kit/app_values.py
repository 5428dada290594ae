"""Give types to the values that the application keeps for its requests: `app.state` itself has none."""

from typing import Generic, TypeVar, cast

from starlette.datastructures import State

T = TypeVar("T")


class AppValue(Generic[T]):
    """Name one value in `app.state` and its type."""

    def __init__(self, name: str) -> None:
        self._name = name

    def put(self, state: State, value: T) -> None:
        setattr(state, self._name, value)

    def of(self, state: State) -> T:
        """Return the value; raise AttributeError where the application keeps none."""
        return cast("T", getattr(state, self._name))

    def get(self, state: State) -> T | None:
        """Return the value, or None where the application keeps none."""
        return cast("T | None", getattr(state, self._name, None))
