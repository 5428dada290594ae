"""Errors about a part of the input, as a schedule's plan, name their field from the whole on: `plan.targets[0]`."""

from collections.abc import Iterator
from contextlib import contextmanager

from iotide_server.kit.errors import IotideError


@contextmanager
def within(field: str) -> Iterator[None]:
    """Let errors about a part of the input name it from the whole on, in which it stands at `field`."""
    try:
        yield
    except IotideError as error:
        if error.field is not None:
            error.field = f"{field}.{error.field}"
        raise
