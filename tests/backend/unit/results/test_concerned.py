"""Flags over very many numbers: the same result as `Flag.concerns` for each, in far less time."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.results.concerned import all_are_concerned, concerns
from iotide_wire.measured import Flag, FlagCode, FlagEffect, FlagRank

NUMBERS = tuple(
    ({"operation": operation, "writers": writers}, target_id)
    for operation, writers, target_id in product(("read", "write"), (1, 2), (None, 3))
)


def flag(
    target_id: int | None = None,
    code: FlagCode = FlagCode.DURATION,
    effect: FlagEffect = FlagEffect.REJECTED,
    **labels: str | float,
) -> Flag:
    return Flag(
        code=code,
        effect=effect,
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
def test_each_number_is_concerned_as_its_flags_define(flags: tuple[Flag, ...]) -> None:
    one_by_one = all(any(flag.concerns(labels, target_id) for flag in flags) for labels, target_id in NUMBERS)
    assert all_are_concerned(flags, NUMBERS) == one_by_one
    assert all_are_concerned(flags, NUMBERS[:1]) == any(flag.concerns(*NUMBERS[0]) for flag in flags)


@given(
    st.lists(
        st.builds(
            flag,
            target_id=st.sampled_from((None, 3, 4)),
            code=st.sampled_from((FlagCode.DURATION, FlagCode.CV, FlagCode.ERRORS)),
            effect=st.sampled_from(FlagEffect),
            operation=st.sampled_from(("read", "write")),
            writers=st.sampled_from((1, 2.0, True)),
        )
        | st.builds(flag, effect=st.sampled_from(FlagEffect), code=st.sampled_from((FlagCode.CV, FlagCode.ERRORS))),
        max_size=12,
    )
)
def test_each_number_has_the_codes_of_its_flags_and_the_first_that_rejects_it(flags: list[Flag]) -> None:
    for (labels, target_id), concern in zip(NUMBERS, concerns(flags, NUMBERS), strict=True):
        own = [flag for flag in flags if flag.concerns(labels, target_id)]
        assert concern.codes == {flag.code for flag in own}
        rejecting = [flag.code for flag in own if flag.rank is FlagRank.NOT_MEASURED]
        assert concern.rejected_by == next(iter(rejecting), None)
    assert list(concerns(flags, [])) == []
