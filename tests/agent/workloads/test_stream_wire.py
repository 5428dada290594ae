"""Parts of a stream: the window in which its numbers are counted, and the chunks of its ring."""

import random

import pytest

from iotide_agent.loads.stream_wire import Window, chunk_bytes


@pytest.mark.parametrize("seed", range(20))
def test_window_counts_as_a_set_of_all_numbers_would(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    window, seen, number = Window(), set[int](), 0
    duplicates = reordered = 0
    for _ in range(3000):
        number = max(0, number + chance.choice([1, 1, 1, 1, 2, 30_000, -1, -7, -20_000]))
        if number <= window.highest - 65_536:
            continue
        is_new = number not in seen
        duplicates += not is_new
        reordered += is_new and number < window.highest
        seen.add(number)
        assert window.take(number) is is_new
    assert (window.unique, window.duplicates, window.reordered, window.late) == (len(seen), duplicates, reordered, 0)


def test_datagrams_behind_the_window_count_as_late() -> None:
    window = Window()
    assert window.take(100_000)
    assert not window.take(100_000 - 65_536)
    assert window.take(100_000 - 65_535)
    assert (window.unique, window.late, window.duplicates) == (2, 1, 0)


def test_chunk_of_any_datagram_holds_whole_ones_and_whole_pages_and_stays_small() -> None:
    for datagram_bytes in range(1024, 8973, 4):
        size_bytes = chunk_bytes(datagram_bytes)
        assert (size_bytes % datagram_bytes, size_bytes % 4096) == (0, 0)
        assert 8 * 1024**2 <= size_bytes <= 18 * 1024**2
