"""The option sets of a workload in a plan: every combination of its swept values, none made before it is asked for."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from operator import itemgetter
from typing import Any, Final, NamedTuple

from iotide_server.kit.db import Json
from iotide_server.kit.digests import canonical_member, sha256_of_members
from iotide_server.kit.errors import InvalidInputError
from iotide_server.workloads.models import Workload
from iotide_wire.expressions import (
    AUTO,
    MEMORY,
    Expression,
    ExpressionError,
    evaluate,
    evaluate_rows,
    names_in,
    node_count,
)

_DIRECT: Final = "direct"
_FLUSH: Final = "flush"
_JOB_FILE: Final = "job_file"
_BETWEEN_BYTES: Final = 2  # colon and comma

ByKind = Sequence[float]  # a number for each kind of option set, in the order of `OptionSets.firsts`


class Amounts(NamedTuple):
    """Bytes that runs need and move, and the seconds that they take by their options, else 0."""

    bytes_needed: ByKind
    bytes_moved: ByKind
    run_seconds: ByKind


@dataclass(frozen=True)
class OptionSets:
    """The option sets of a workload, from 0; those of a kind are alike in what space, time and cautions depend on."""

    field: str  # where the workload stands in the plan, for errors: `workloads[0]`
    workload: Workload
    options: Json  # of the first set, complete, in base units
    sweep: Mapping[str, Sequence[Any]]  # the values of each swept option, likewise
    frozen: Json  # the defaults of options that are no part of a series' key while an option has them
    expressions: Sequence[Expression]  # of what runs need, move and take, as in `Amounts`

    def __len__(self) -> int:
        return prod(map(len, self.sweep.values()))

    def options_of(self, number: int) -> Json:
        chosen = {}
        for name, values in reversed(list(self.sweep.items())):
            number, at = divmod(number, len(values))
            chosen[name] = values[at]
        return {**self.options, **chosen}

    def as_json(self) -> Iterator[str]:
        """Yield the options of each set, in their order."""
        return (
            "{" + ",".join(members) + "}"
            for members in self._members(lambda name, value: f"{json.dumps(name)}:{json.dumps(value)}")
        )

    @cached_property
    def bytes_by_option(self) -> Mapping[str, int]:
        """Count the bytes that each option takes in `as_json` of all sets together, without making any set."""
        count = len(self)
        taken = {}
        for name, value in self.options.items():
            values = self.sweep.get(name, [value])
            texts = sum(len(json.dumps(name)) + len(json.dumps(one)) + _BETWEEN_BYTES for one in values)
            taken[name] = texts * count // len(values)
        return taken

    def digests(self) -> Iterator[str]:
        """Yield the digest of the options of each set that differ from the frozen ones, in their order."""
        return map(sha256_of_members, self._members(self._in_key))

    def _in_key(self, name: str, value: object) -> str:
        """Return the empty text for what is no part of a series' key, as `workloads.series_options` does."""
        is_frozen = name in self.frozen and value == self.frozen[name]
        return "" if is_frozen else canonical_member(name, value)

    def _members(self, written: Callable[[str, object], str]) -> Iterator[tuple[str, ...]]:
        """Yield each set as its options, each as a text, sorted by their names; each value is written once."""
        names = sorted(self.options)
        fixed = tuple(written(name, self.options[name]) for name in names if name not in self.sweep)
        swept = [[written(name, value) for value in values] for name, values in self.sweep.items()]
        at = [*self.sweep, *(name for name in names if name not in self.sweep)]
        in_order = itemgetter(*(at.index(name) for name in names)) if len(names) > 1 else tuple
        return (in_order((*members, *fixed)) for members in product(*swept))

    @cached_property
    def read(self) -> frozenset[str]:
        """Return the options and facts on which space and time depend."""
        return frozenset[str]().union(*map(names_in, self.expressions))

    @cached_property
    def read_elsewhere(self) -> Sequence[str]:
        """Return those of them that are no options: facts of a node and of a mount."""
        values = [*self.options.values(), *(value for values in self.sweep.values() for value in values)]
        memory = {MEMORY} if AUTO in [value for value in values if isinstance(value, str)] else set()
        return sorted((self.read | memory).difference(self.options))

    @cached_property
    def _parts(self) -> Sequence[Sequence[int]]:
        """Return for each swept option the part of each of its values: values in one part are alike for a kind."""
        decisive = self.read | {_DIRECT, _FLUSH, _JOB_FILE}
        parts = []
        for name, values in self.sweep.items():
            known: dict[object, int] = {}
            keys: Iterable[object] = range(len(values)) if name in decisive else (value == AUTO for value in values)
            parts.append([known.setdefault(key, len(known)) for key in keys])
        return parts

    @cached_property
    def _firsts(self) -> Sequence[Sequence[int]]:
        """Return for each swept option the first value of each part."""
        return [[parts.index(part) for part in range(max(parts) + 1)] for parts in self._parts]

    @cached_property
    def firsts(self) -> Sequence[int]:
        """Return the number of the first set of each kind, ascending."""
        sizes = [len(values) for values in self.sweep.values()]
        return list(map(sum, product(*_scaled(self._firsts, sizes))))

    @cached_property
    def counts(self) -> Sequence[int]:
        """Count the sets of each kind."""
        by_part = [[parts.count(part) for part in range(max(parts) + 1)] for parts in self._parts]
        return list(map(prod, product(*by_part)))

    @cached_property
    def kinds(self) -> Sequence[int]:
        """Return the kind of each set, in their order."""
        return list(map(sum, product(*_scaled(self._parts, list(map(len, self._firsts))))))

    def kind_of(self, number: int) -> int:
        kind, scale = 0, 1
        for parts, firsts in zip(reversed(self._parts), reversed(self._firsts), strict=True):
            number, at = divmod(number, len(parts))
            kind += parts[at] * scale
            scale *= len(firsts)
        return kind

    @cached_property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the swept values on which space and time depend, one for each kind."""
        by_part = [
            [values[at] for at in firsts] for values, firsts in zip(self.sweep.values(), self._firsts, strict=True)
        ]
        columns = zip(*product(*by_part), strict=True)
        return {name: column for name, column in zip(self.sweep, columns, strict=True) if name in self.read}

    @property
    def step_count(self) -> int:
        """Count what `amounts` computes: parts of announced expressions times kinds."""
        return len(self.firsts) * sum(map(node_count, self.expressions))

    def amounts(self, elsewhere: Mapping[str, Any]) -> Amounts:
        """Return what runs need, move and take with these facts of node and mount; raise ExpressionError."""
        values = {**elsewhere, **{name: self.options[name] for name in self.read & self.options.keys()}}
        found = [evaluate_rows(one, values, self.columns, len(self.firsts)) for one in self.expressions]
        return Amounts(*([max(0.0, one) for one in column] if min(column) < 0 else column for column in found))

    def refuse_first(self, facts_of_places: Sequence[Mapping[str, Any]]) -> None:
        """Raise InvalidInputError for the first set whose space or time cannot be foreseen."""
        for options in map(self.options_of, self.firsts):
            for facts, expression in product(facts_of_places, self.expressions):
                try:
                    evaluate(expression, {**facts, **options})
                except ExpressionError as error:
                    raise InvalidInputError(
                        f"space and time of {self.workload.name} cannot be foreseen: {error}",
                        field=f"{self.field}.options",
                        remedy="give the options that it is computed from",
                    ) from error

    @cached_property
    def goes_past_cache(self) -> Sequence[bool]:
        """Check of each kind that its runs go around the page cache; what a job file does is not known."""
        firsts = map(self.options_of, self.firsts) if self.sweep.keys() & {_DIRECT, _FLUSH, _JOB_FILE} else None
        if firsts is None:
            return [_goes_past_cache(self.options)] * len(self.firsts)
        return list(map(_goes_past_cache, firsts))


def _goes_past_cache(options: Json) -> bool:
    return (options.get(_DIRECT) is True or options.get(_FLUSH) == _DIRECT) and not options.get(_JOB_FILE)


def _scaled(digits: Sequence[Sequence[int]], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Multiply each option's digits with the number of combinations of the options after it."""
    for at, own in enumerate(digits):
        scale = prod(sizes[at + 1 :])
        yield [scale * digit for digit in own]
