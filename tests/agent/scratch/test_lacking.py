"""Programs and modules that a node lacks for its makes."""

from pathlib import Path

import pytest

from iotide_agent.scratch import commands
from iotide_agent.scratch.lacking import lacking
from iotide_wire.scratch_vocabulary import PROGRAMS


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only directory of programs."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setattr(commands, "PATH", str(directory))
    return directory


def kernel(root: Path, loaded: str, loadable: str) -> tuple[Path, Path]:
    """Return the directory of modules, and the list of what the kernel mounts now."""
    (root / "modules.dep").write_text(loadable)
    (root / "modules.builtin").write_text("kernel/fs/ext4/ext4.ko\n")
    (root / "filesystems").write_text(loaded)
    return root, root / "filesystems"


def test_missing_programs_and_modules_are_named(tmp_path: Path, programs: Path) -> None:
    for name in PROGRAMS:
        if name not in {"mkfs.jfs", "lvm"}:
            (programs / name).touch(mode=0o755)
    loadable = "kernel/fs/btrfs/btrfs.ko.xz: kernel/lib/raid6/raid6_pq.ko.xz\nkernel/fs/jfs/jfs.ko.zst:\n"
    lists = kernel(tmp_path, "nodev\tproc\n\text4\n\txfs\n", loadable)
    assert lacking(*lists) == ["mkfs.jfs", "lvm", "reiserfs.ko", "f2fs.ko"]


def test_a_kernel_without_lists_of_modules_lacks_none(tmp_path: Path, programs: Path) -> None:
    for name in PROGRAMS:
        (programs / name).touch(mode=0o755)
    assert lacking(tmp_path / "none", tmp_path / "none") == []
