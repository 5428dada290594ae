"""Fake /proc and /sys in a directory of their own."""

from pathlib import Path


class Tree:
    """Root directory with `proc` and `sys`. A file written again stays the same file, as in the kernel."""

    def __init__(self, root: Path) -> None:
        self.root, self.proc, self.sys = root, root / "proc", root / "sys"

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def stat(self, *ticks: int) -> None:
        self.write("proc/stat", f"cpu  {' '.join(map(str, ticks))} 0 0 0\ncpu0 1 2 3\nintr 5\n")

    def disk(self, name: str, number: str, sectors: tuple[int, int], busy_ms: int) -> None:
        self.write(f"sys/block/{name}/stat", f"10 0 {sectors[0]} 5 20 0 {sectors[1]} 9 0 {busy_ms} 14 0 0 0 0\n")
        link = self.sys / "dev/block" / number
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(self.sys / "block" / name)

    def net(self, **interfaces: tuple[int, int]) -> None:
        lines = [f"{name:>6}:{got} 7 0 0 0 0 0 0 {sent} 8 0 0 0 0 0 0" for name, (got, sent) in interfaces.items()]
        self.write("proc/net/dev", "\n".join(["Inter-| Receive", " face |bytes", *lines, ""]))

    def interface(self, name: str, **files: str) -> None:
        (self.sys / "class/net" / name / "device").mkdir(parents=True)
        for file, text in files.items():
            self.write(f"sys/class/net/{name}/{file}", text + "\n")

    def thread(self, pid: int, name: str, user: int, system: int, parent: int = 2) -> None:
        self.write(
            f"proc/{pid}/stat", f"{pid} ({name}) S {parent} 0 0 0 -1 69238880 0 0 0 0 {user} {system} 0 0 20 0 1\n"
        )
