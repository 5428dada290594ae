"""Memory that a process keeps after a large answer; each test has its own process, since glibc is configured once for
each.
"""

import subprocess
import sys

import pytest

_BYTES_OF_ANSWER = 40_000_000
_BEGIN = """
import threading
from pathlib import Path
from iotide_server.kit import allocation

def anonymous_bytes():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous:"))

# The loop's first turn begins when the answer is gone; at its second it has released memory once.
gone, released = threading.Event(), threading.Event()
turns = iter((gone.wait, lambda: released.set() or threading.Event().wait()))
allocation.time.sleep = lambda _seconds: next(turns)()
"""
_ANSWER = """
before = anonymous_bytes()
bytearray(8_000_000)  # gone at once: from it glibc learns to take as much from its heap
pieces = [(bytearray(PIECE), bytearray(2_000)) for _ in range(ANSWER // PIECE)]
stays = [small for _, small in pieces]  # above each of them
del pieces
gone.set()
"""
_END = "print(anonymous_bytes() - before)"


def kept_bytes(preparation: str, piece_bytes: int, ending: str = "") -> int:
    answer = _ANSWER.replace("PIECE", str(piece_bytes)).replace("ANSWER", str(_BYTES_OF_ANSWER))
    program = f"{_BEGIN}\n{preparation}\n{answer}\n{ending}\n{_END}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.parametrize("piece_bytes", [1_000_000, 100_000])
def test_glibc_by_default_keeps_the_memory_of_an_answer(piece_bytes: int) -> None:
    assert kept_bytes("", piece_bytes) > _BYTES_OF_ANSWER / 2


def test_large_pieces_go_with_the_answer() -> None:
    assert kept_bytes("allocation.give_memory_back()", 1_000_000) < _BYTES_OF_ANSWER / 20


def test_small_pieces_go_within_half_a_minute() -> None:
    kept = kept_bytes("allocation.give_memory_back()", 100_000, "released.wait()")
    assert kept < _BYTES_OF_ANSWER / 8  # including the pages that hold the remaining objects


def test_an_allocator_setting_of_the_environment_takes_precedence() -> None:
    preparation = "import os; os.environ['MALLOC_ARENA_MAX'] = '4'; allocation.give_memory_back()"
    assert kept_bytes(preparation, 1_000_000) > _BYTES_OF_ANSWER / 2
