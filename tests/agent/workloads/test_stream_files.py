"""How the parts of a stream come from the ring into the directories."""

from pathlib import Path

from agent.order_rig import eventually

from iotide_agent.loads.stream_files import Chunk, FileRule, Ring, Writer

MIB = 1024**2


def test_equal_targets_take_equal_shares_of_a_stream_for_which_one_would_do(tmp_path: Path) -> None:
    ring, rule = Ring(4 * MIB, MIB), FileRule(8 * MIB, is_single=False, kept_files=0, direct=False)
    directories = [tmp_path / str(number) for number in range(3)]
    for directory in directories:
        directory.mkdir()
    writers = [Writer(ring, str(directory), rule) for directory in directories]
    for writer in writers:
        writer.start()
    for _ in range(24):
        eventually(lambda: ring.in_use() == 0)
        memory = ring.take(0)
        assert memory is not None
        ring.filled.put(Chunk(memory, MIB))
    for _ in writers:
        ring.filled.put(None)
    for writer in writers:
        writer.join()
    assert sum(writer.written_bytes for writer in writers) == 24 * MIB
    assert all(writer.written_bytes >= 6 * MIB for writer in writers)
