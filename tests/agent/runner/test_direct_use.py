"""The runner sees whether O_DIRECT is used, on real files and descriptors."""

import mmap
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from agent.order_rig import Rig, python, step

from iotide_agent.runner import direct_use
from iotide_agent.runner.direct_use import Cached, DescriptorWatch, cached, evict

MIB = 1024**2
_HOLD = "import os, sys, time; os.open(sys.argv[1], os.O_RDONLY | int(sys.argv[2])); time.sleep(2.3)"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of 4 MiB, entirely in the page cache."""
    file = tmp_path / "data"
    file.write_bytes(os.urandom(4 * MIB))
    os.sync()
    return file


@pytest.mark.parametrize("has_cachestat", [True, False])
def test_cached_bytes_are_counted_alike_with_and_without_cachestat(
    file: Path, monkeypatch: pytest.MonkeyPatch, *, has_cachestat: bool
) -> None:
    if not has_cachestat:
        monkeypatch.setattr(direct_use, "_CACHESTAT", 100_000)  # the kernel answers ENOSYS
    # Each time read again: another program may empty the page cache.
    whole = Cached(4 * MIB, 4 * MIB)
    assert any(cached([str(path)]) == whole for path in [file] * 5 if file.read_bytes())
    assert any(cached([str(path)]) == whole for path in [file.parent] * 5 if file.read_bytes())
    evict([str(file)])
    assert cached([str(file)]) == Cached(0, 4 * MIB)
    with file.open("rb") as opened:
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        os.pread(opened.fileno(), MIB, 0)
    assert MIB <= cached([str(file)]).cached_bytes < 2 * MIB


def test_a_large_file_is_estimated_from_windows(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct_use, "_CACHESTAT", 100_000)
    monkeypatch.setattr(direct_use, "_WINDOW_BYTES", 16 * mmap.PAGESIZE)
    monkeypatch.setattr(direct_use, "_MOST_WINDOWS", 4)
    assert cached([str(file)]) == Cached(4 * MIB, 4 * MIB)


def test_what_cannot_be_examined_counts_as_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / ".iotide-marker").write_text("not data")
    names = ("pipe", "empty", "link", "absent")
    assert cached([str(tmp_path), *(str(tmp_path / name) for name in names)]) == Cached(0, 0)


@pytest.mark.parametrize(("flag", "looks"), [(os.O_DIRECT, (1, 0)), (0, (0, 1))])
def test_flags_of_an_open_descriptor_are_seen_by_its_file_and_by_its_directory(
    file: Path, flag: int, looks: tuple[int, int]
) -> None:
    descriptor = os.open(file, os.O_RDONLY | flag)
    try:
        for path in (file, file.parent):
            watch = DescriptorWatch()
            claimed = step("tool", name="read")._replace(direct_files=(str(path),))
            watch.begin([claimed])
            watch.look([os.getpid()])
            assert watch.record(claimed) == dict(zip(("direct_looks", "buffered_looks"), looks, strict=True))
    finally:
        os.close(descriptor)


def test_open_directories_and_other_files_are_no_data(file: Path) -> None:
    watch = DescriptorWatch()
    claimed = step("tool", name="read")._replace(direct_files=(str(file.parent),))
    watch.begin([claimed])
    descriptors = [os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY), os.open(__file__, os.O_RDONLY)]
    watch.look([os.getpid()])
    for descriptor in descriptors:
        os.close(descriptor)
    assert watch.record(claimed) == {"direct_looks": 0, "buffered_looks": 0}
    assert watch.record(step("tool", name="other")) == {}


@pytest.mark.parametrize(("flag", "seen"), [(os.O_DIRECT, "direct_looks"), (0, "buffered_looks")])
def test_a_running_step_is_looked_at_once_a_second(make_rig: Callable[..., Rig], flag: int, seen: str) -> None:
    rig = make_rig()
    file = rig.target / "data"
    file.write_bytes(os.urandom(MIB))
    held = step(*python(_HOLD), str(file), str(flag), name="hold")._replace(direct_files=(str(file),))
    [record] = rig.run([held])["steps"]
    assert record[seen] == (1 if flag else 2)
    # Fewer if another program emptied the page cache.
    assert record["cached_bytes"] <= record["cached_before_bytes"]
    assert {"direct_looks", "buffered_looks"} - {seen} <= {name for name in record if record[name] == 0}


def test_pages_that_a_step_leaves_are_counted_after_those_before_were_evicted(rig: Rig) -> None:
    file = rig.place / "data"
    write = step("dd", "if=/dev/zero", f"of={file}", "bs=1M", "count=4", "conv=fsync", name="write")
    claimed = [write._replace(name=name, direct_files=(str(file),)) for name in ("write", "overwrite")]
    records = rig.run(*([one] for one in claimed))["steps"]
    assert [record["cached_bytes"] - record["cached_before_bytes"] for record in records] == [4 * MIB, 4 * MIB]
