"""Flags over very many numbers: as `Flag.concerns` says of each, and in far less time."""

from itertools import product

import pytest

from iotide_server.results.concerned import all_are_concerned
from iotide_wire.measured import Flag, FlagCode, FlagEffect

NUMBERS = tuple(
    ({"operation": operation, "writers": writers}, target_id)
    for operation, writers, target_id in product(("read", "write"), (1, 2), (None, 3))
)


def flag(target_id: int | None = None, **labels: str | float) -> Flag:
    return Flag(
        code=FlagCode.DURATION,
        effect=FlagEffect.REJECTED,
        measured="",
        limit="",
        labels=labels,
        target_id=target_id,
    )


@pytest.mark.parametrize(
    "flags",
    [
        (),
        (flag(),),
        (flag(operation="read"),),
        (flag(operation="read"), flag(operation="write")),
        (flag(operation="read"), flag(operation="write", writers=1), flag(operation="write", writers=2.0)),
        (flag(operation="read"), flag(operation="write", writers=1)),
        (flag(target_id=3), flag(operation="read"), flag(operation="write")),
        (flag(target_id=3), flag(target_id=4)),
        (flag(nothing="of it"), flag(operation="read")),
    ],
)
def test_each_number_is_concerned_as_the_flags_say_of_it(flags: tuple[Flag, ...]) -> None:
    one_by_one = all(any(flag.concerns(labels, target_id) for flag in flags) for labels, target_id in NUMBERS)
    assert all_are_concerned(flags, NUMBERS) == one_by_one
    assert all_are_concerned(flags, NUMBERS[:1]) == any(flag.concerns(*NUMBERS[0]) for flag in flags)
