"""Option sets computed on demand: each equals the element of the product of the swept values at its index."""

import json
from collections import Counter
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from iotide_server.campaigns.option_sets import OptionSets
from iotide_server.kit.digests import canonical_sha256
from iotide_server.workloads.key_options import KeyOptions
from iotide_server.workloads.models import Workload
from iotide_wire.expressions import Number, Option, evaluate, evaluate_rows

NAMES = ("auto_size", "block", "direct", "size", "writers")
SIZES = st.integers(0, 3) | st.floats(0, 3) | st.just("auto")
VALUES = {
    "auto_size": st.just("auto") | st.integers(0, 3),
    "block": st.integers(0, 3) | st.just("auto") | st.text(max_size=2) | st.lists(st.integers(), max_size=2),
    "direct": st.booleans(),
    "size": SIZES,
    "writers": st.integers(1, 3),
}


@st.composite
def option_sets(draw: st.DrawFn) -> OptionSets:
    swept = draw(st.permutations(NAMES))[: draw(st.integers(0, 4))]
    sweep = {name: draw(st.lists(VALUES[name], min_size=1, max_size=4)) for name in swept}
    options = {name: sweep[name][0] if name in sweep else draw(VALUES[name]) for name in NAMES}
    return OptionSets(
        "workloads[0]",
        Workload(name="dd"),
        options,
        sweep,
        {name: draw(VALUES[name]) for name in draw(st.lists(st.sampled_from(NAMES), unique=True))},
        [Option.of("size") * Option.of("writers"), Option.of("size") + Option.of("auto_size"), Number.of(0)],
    )


def each(sets: OptionSets) -> list[dict[str, Any]]:
    """Make all sets one by one."""
    return [{**sets.options, **dict(zip(sets.sweep, values, strict=True))} for values in product(*sets.sweep.values())]


@given(sets=option_sets())
def test_each_set_is_that_of_the_product(sets: OptionSets) -> None:
    expected = each(sets)
    assert len(sets) == len(expected)
    assert [sets.options_of(number) for number in range(len(sets))] == expected
    assert [json.loads(options) for options in sets.as_json()] == expected


@given(sets=option_sets())
def test_each_digest_is_that_of_the_options_of_its_series(sets: OptionSets) -> None:
    key = KeyOptions(sets.frozen)
    for is_gang in (False, True):
        digests = [canonical_sha256(key.chosen(options)) for options in each(sets)]
        assert list(sets.digests(is_gang=is_gang)) == digests


@given(sets=option_sets())
def test_the_sets_of_a_kind_are_alike(sets: OptionSets) -> None:
    expected = each(sets)
    assert [sets.kind_of(number) for number in range(len(sets))] == sets.kinds
    assert list(sets.counts) == [Counter(sets.kinds)[kind] for kind in range(len(sets.counts))]
    assert list(sets.firsts) == [list(sets.kinds).index(kind) for kind in range(len(sets.firsts))]
    assert list(sets.firsts) == sorted(sets.firsts)
    memory = {"memory.total_bytes": 8.0}
    for expression in sets.expressions:
        by_kind = evaluate_rows(expression, {**memory, **sets.options}, sets.columns, len(sets.firsts))
        alone = [evaluate(expression, {**memory, **options}) for options in expected]
        assert [by_kind[kind] for kind in sets.kinds] == alone
    for options, kind in zip(expected, sets.kinds, strict=True):
        alike = expected[sets.firsts[kind]]
        assert sets.goes_past_cache[kind] is (options["direct"] is True)
        assert ("auto" in options.values()) is ("auto" in alike.values())


@given(sets=option_sets())
def test_a_fact_is_read_where_an_expression_or_a_size_needs_it(sets: OptionSets) -> None:
    names_auto = any("auto" in options.values() for options in each(sets))
    assert list(sets.read_elsewhere) == (["memory.total_bytes"] if names_auto else [])


@given(sets=option_sets())
def test_the_bytes_of_all_sets_are_known_without_making_one(sets: OptionSets) -> None:
    braces = len(sets)  # one byte a set: two braces, and no comma after the last option
    assert sum(sets.bytes_by_option.values()) + braces == sum(map(len, sets.as_json()))


def test_the_announced_expression_of_programs_counts_as_steps_for_each_kind() -> None:
    """It decides kinds as well, so its work must be limited like that of the other expressions."""
    own_programs = (Option.of("writers") - 1).model_dump(mode="json")
    workload = Workload(name="dd", own_programs=own_programs)
    sets = OptionSets("workloads[0]", workload, {"writers": 1}, {"writers": [1, 2, 3]}, {}, [Number.of(0)])
    assert sets.has_one_program == [True, False, False]
    assert sets.step_count == 3 * (1 + 3)
