"""Option sets of a workload: combinations of swept values, created lazily."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from operator import itemgetter
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter

from iotide_server.kit.db import Json
from iotide_server.kit.digests import canonical_member, sha256_of_members
from iotide_server.kit.errors import InvalidInputError
from iotide_server.workloads.key_options import KeyOptions
from iotide_server.workloads.models import Workload
from iotide_wire.expressions import (
    AUTO,
    MEMORY,
    Expression,
    ExpressionError,
    Number,
    evaluate,
    evaluate_rows,
    names_in,
    node_count,
)

_EXPRESSION: Final = TypeAdapter[Expression](Expression)
_DIRECT: Final = "direct"
_FLUSH: Final = "flush"
_JOB_FILE: Final = "job_file"
_BETWEEN_BYTES: Final = 2

ByKind = Sequence[float]  # a number for each kind, as in `OptionSets.firsts`


class Amounts(NamedTuple):
    """Bytes that runs need and move, and the seconds given by their options, else 0."""

    bytes_needed: ByKind
    bytes_moved: ByKind
    run_seconds: ByKind


@dataclass(frozen=True)
class OptionSets:
    """Option sets, numbered from 0. Sets of one kind are equal in what affects space, time and warnings."""

    field: str  # path in the plan, for errors
    workload: Workload
    options: Json
    sweep: Mapping[str, Sequence[Any]]  # swept values, in base units
    frozen: Json  # options with these values are not in a series' key
    expressions: Sequence[Expression]

    def __len__(self) -> int:
        return prod(map(len, self.sweep.values()))

    def options_of(self, number: int) -> Json:
        chosen = {}
        for name, values in reversed(list(self.sweep.items())):
            number, at = divmod(number, len(values))
            chosen[name] = values[at]
        return {**self.options, **chosen}

    def as_json(self) -> Iterator[str]:
        return (
            "{" + ",".join(members) + "}"
            for members in self._members(lambda name, value: f"{json.dumps(name)}:{json.dumps(value)}")
        )

    @cached_property
    def bytes_by_option(self) -> Mapping[str, int]:
        """Count the bytes of each option in `as_json` without creating a set."""
        count = len(self)
        taken = {}
        for name, value in self.options.items():
            values = self.sweep.get(name, [value])
            texts = sum(len(json.dumps(name)) + len(json.dumps(one)) + _BETWEEN_BYTES for one in values)
            taken[name] = texts * count // len(values)
        return taken

    def digests(self, *, is_gang: bool) -> Iterator[str]:
        """Yield the digest of each set's options in the key of a series of one node, or of several."""
        key = KeyOptions.of(self.frozen, self.workload.own_programs, is_gang=is_gang)
        members = self._members(lambda name, value: canonical_member(name, value) if key.has(name, value) else "")
        return map(sha256_of_members, members)

    def _members(self, written: Callable[[str, object], str]) -> Iterator[tuple[str, ...]]:
        """Yield each set as texts sorted by name. Each value is formatted once."""
        names = sorted(self.options)
        fixed = tuple(written(name, self.options[name]) for name in names if name not in self.sweep)
        swept = [[written(name, value) for value in values] for name, values in self.sweep.items()]
        at = [*self.sweep, *(name for name in names if name not in self.sweep)]
        in_order = itemgetter(*(at.index(name) for name in names)) if len(names) > 1 else tuple
        return (in_order((*members, *fixed)) for members in product(*swept))

    @cached_property
    def read(self) -> frozenset[str]:
        return frozenset[str]().union(*map(names_in, self.expressions))

    @cached_property
    def read_elsewhere(self) -> Sequence[str]:
        values = [*self.options.values(), *(value for values in self.sweep.values() for value in values)]
        memory = {MEMORY} if AUTO in [value for value in values if isinstance(value, str)] else set()
        return sorted((self.read | memory).difference(self.options))

    @cached_property
    def _parts(self) -> Sequence[Sequence[int]]:
        """Return for each swept option the part of each value; a kind has one part of each."""
        decisive = self.read | names_in(self._own_programs) | {_DIRECT, _FLUSH, _JOB_FILE}
        parts = []
        for name, values in self.sweep.items():
            known: dict[object, int] = {}
            keys: Iterable[object] = range(len(values)) if name in decisive else (value == AUTO for value in values)
            parts.append([known.setdefault(key, len(known)) for key in keys])
        return parts

    @cached_property
    def _firsts(self) -> Sequence[Sequence[int]]:
        return [[parts.index(part) for part in range(max(parts) + 1)] for parts in self._parts]

    @cached_property
    def firsts(self) -> Sequence[int]:
        sizes = [len(values) for values in self.sweep.values()]
        return list(map(sum, product(*_scaled(self._firsts, sizes))))

    @cached_property
    def counts(self) -> Sequence[int]:
        by_part = [[parts.count(part) for part in range(max(parts) + 1)] for parts in self._parts]
        return list(map(prod, product(*by_part)))

    @cached_property
    def kinds(self) -> Sequence[int]:
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
        by_part = [
            [values[at] for at in firsts] for values, firsts in zip(self.sweep.values(), self._firsts, strict=True)
        ]
        columns = zip(*product(*by_part), strict=True)
        read = self.read | names_in(self._own_programs)
        return {name: column for name, column in zip(self.sweep, columns, strict=True) if name in read}

    @property
    def step_count(self) -> int:
        return len(self.firsts) * sum(map(node_count, [*self.expressions, self._own_programs]))

    def amounts(self, elsewhere: Mapping[str, Any]) -> Amounts:
        """Apply facts of node and mount; raise ExpressionError."""
        values = {**elsewhere, **{name: self.options[name] for name in self.read & self.options.keys()}}
        found = [evaluate_rows(one, values, self.columns, len(self.firsts)) for one in self.expressions]
        return Amounts(*([max(0.0, one) for one in column] if min(column) < 0 else column for column in found))

    @cached_property
    def _own_programs(self) -> Expression:
        announced = self.workload.own_programs
        return Number.of(1) if announced is None else _EXPRESSION.validate_python(announced)

    @cached_property
    def has_one_program(self) -> Sequence[bool]:
        """Return for each kind whether several nodes run one program together; raise InvalidInputError."""
        try:
            found = evaluate_rows(self._own_programs, self.options, self.columns, len(self.firsts))
        except ExpressionError as error:
            raise InvalidInputError(
                f"cannot compute which nodes of {self.workload.name} start a program: {error}",
                field=f"{self.field}.options",
                remedy="set the options that it is computed from",
            ) from error
        return [own <= 0 for own in found]

    def refuse_first(self, facts_of_places: Sequence[Mapping[str, Any]]) -> None:
        """Raise InvalidInputError for the first set without computable space or time."""
        for options in map(self.options_of, self.firsts):
            for facts, expression in product(facts_of_places, self.expressions):
                try:
                    evaluate(expression, {**facts, **options})
                except ExpressionError as error:
                    raise InvalidInputError(
                        f"cannot compute the space and time of {self.workload.name}: {error}",
                        field=f"{self.field}.options",
                        remedy="set the options that they are computed from",
                    ) from error

    @cached_property
    def goes_past_cache(self) -> Sequence[bool]:
        """Return for each kind whether it bypasses the page cache; a job file may not."""
        firsts = map(self.options_of, self.firsts) if self.sweep.keys() & {_DIRECT, _FLUSH, _JOB_FILE} else None
        if firsts is None:
            return [_goes_past_cache(self.options)] * len(self.firsts)
        return list(map(_goes_past_cache, firsts))


def _goes_past_cache(options: Json) -> bool:
    return (options.get(_DIRECT) is True or options.get(_FLUSH) == _DIRECT) and not options.get(_JOB_FILE)


def _scaled(digits: Sequence[Sequence[int]], sizes: Sequence[int]) -> Iterator[list[int]]:
    for at, own in enumerate(digits):
        scale = prod(sizes[at + 1 :])
        yield [scale * digit for digit in own]
