"""Workloads and probes that installed packages announce as entry points."""

import logging
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from typing import Any, ClassVar, Protocol, TypeVar

_logger = logging.getLogger(__name__)


class Named(Protocol):
    name: ClassVar[str]


T = TypeVar("T", bound=Named)


def with_plug_ins(kind: str, base: type[object], own: Iterable[type[T]], check: Callable[[T], object]) -> dict[str, T]:
    """Return all of a kind by name, the agent's own first; log and skip broken plug-ins.

    They derive from `base`; `check` raises if one is unusable.
    """
    found = {one.name: one() for one in own}
    for entry_point in sorted(entry_points(group=f"iotide.{kind}s"), key=lambda entry: entry.name):
        try:
            plug_in: Any = entry_point.load()
            if not (isinstance(plug_in, type) and issubclass(plug_in, base)):
                raise TypeError(f"{plug_in!r} is no subclass of {base.__module__}.{base.__qualname__}")  # noqa: TRY301 - logged like whatever it raises itself
            made: Any = plug_in()
            check(made)
        except Exception:
            # An error in a third party's module must not take the agent's own ones with it.
            _logger.exception("plug_in_broken kind=%s entry_point=%s", kind, entry_point.value)
            continue
        if made.name in found:
            _logger.error("plug_in_name_taken kind=%s name=%s entry_point=%s", kind, made.name, entry_point.value)
            continue
        found[made.name] = made
    return found
