"""Options in the key of a series. Pure functions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iotide_server.kit.db import Json


@dataclass(frozen=True, slots=True)
class KeyOptions:
    """Rule for the options in a key: those that differ from the workload's frozen defaults.

    `choice` is the option, if any, that only chooses between one program over all nodes and one for each. It is in the
    key of one program alone: several nodes had their own programs before it existed, and a single node has one anyway.
    """

    frozen: Mapping[str, Any]
    choice: str | None = None
    is_gang: bool = False

    @classmethod
    def of(cls, frozen: Mapping[str, Any], own_programs: Json | None, *, is_gang: bool) -> "KeyOptions":
        """Read the announced expression `own_programs`; None: its default."""
        is_option = own_programs is not None and own_programs["kind"] == "name"
        return cls(frozen, own_programs["name"] if own_programs is not None and is_option else None, is_gang)

    def has(self, name: str, value: object) -> bool:
        # Only a switch chooses nothing else: a plug-in's number of tasks stays in the key.
        if name == self.choice and isinstance(value, bool):
            return self.is_gang and not value
        return name not in self.frozen or value != self.frozen[name]

    def chosen(self, options: Mapping[str, Any]) -> Json:
        """Return the options of the key, sorted by name."""
        return {name: options[name] for name in sorted(options) if self.has(name, options[name])}
