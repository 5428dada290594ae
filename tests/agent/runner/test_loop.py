"""Event loop of the runner: a handler or tick that a former one of the same turn has exchanged is not called."""

import os
from collections.abc import Callable, Iterator

import pytest

from iotide_agent.runner.loop import Loop
from iotide_agent.runner.processes import boottime


@pytest.fixture
def pipes() -> Iterator[list[tuple[int, int]]]:
    """Yield two pipes with something to read."""
    made = [os.pipe() for _ in range(2)]
    for _, write in made:
        os.write(write, b"x")
    yield made
    for descriptor in {number for pipe in made for number in pipe}:
        os.close(descriptor)


def test_an_event_of_a_closed_descriptor_does_not_reach_the_one_that_has_its_number_now(
    pipes: list[tuple[int, int]],
) -> None:
    loop, called = Loop(), []
    (first, _), (second, _) = pipes
    empty, write = os.pipe()

    def exchange() -> None:
        loop.ignore(first)
        loop.ignore(second)
        os.dup2(empty, second)
        loop.watch(second, lambda: called.append("blocks on an empty pipe"))

    loop.watch(first, exchange)
    loop.watch(second, lambda: called.append("second"))
    loop.turn(boottime())
    os.close(empty)
    os.close(write)
    assert called == []


def counting(called: list[str], name: str) -> Callable[[], float]:
    def tick() -> float:
        called.append(name)
        return boottime() + 100.0

    return tick


def test_a_tick_that_another_one_has_ended_is_not_called() -> None:
    loop, called = Loop(), list[str]()

    def end_other() -> float:
        loop.every(None, "other")
        return boottime() + 100.0

    loop.every(end_other, "first")
    loop.every(counting(called, "other"), "other")
    loop.turn(boottime())
    assert called == []


def test_a_tick_that_sets_another_for_its_owner_is_replaced_by_it() -> None:
    loop, called = Loop(), list[str]()

    def replace() -> float:
        loop.every(counting(called, "replaced"), "owner")
        return boottime() + 100.0

    loop.every(replace, "owner")
    loop.turn(boottime())
    loop.turn(boottime())
    assert called == ["replaced"]
