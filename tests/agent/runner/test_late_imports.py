"""An upgrade replaces the agent's files while a runner works, so a runner imports everything when it starts."""

import ast
from collections.abc import Iterator
from pathlib import Path

import iotide_agent
import iotide_wire

PACKAGES = {package.__name__: Path(package.__path__[0]) for package in (iotide_agent, iotide_wire)}
STARTED = ("iotide_agent.runner", "iotide_agent.mpi", "iotide_agent.loads", "iotide_agent.scratch")
_LATE_FUNCTIONS = {"import_module", "__import__", "entry_points"}


def file_of(module: str) -> Path | None:
    """Return the source file of one of our modules."""
    top, _, rest = module.partition(".")
    if top not in PACKAGES:
        return None
    path = PACKAGES[top] / rest.replace(".", "/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def named_in(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules_of_a_runner() -> set[Path]:
    """Return the files of runner and loads, and of all modules of ours that they import."""
    waiting = [file for name in STARTED for file in Path(PACKAGES["iotide_agent"], name.split(".")[1]).glob("**/*.py")]
    found: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                waiting += [path for module in named_in(node) if (path := file_of(module))]
    return found


def late_imports(file: Path) -> Iterator[str]:
    """Yield the lines of a file that import something when a function is called."""
    for function in ast.walk(ast.parse(file.read_text())):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for node in ast.walk(function):
            called = node.func if isinstance(node, ast.Call) else None
            name = getattr(called, "attr", getattr(called, "id", None))
            if isinstance(node, ast.Import | ast.ImportFrom) or (
                isinstance(node, ast.Call) and name in _LATE_FUNCTIONS
            ):
                yield f"{file.name}:{node.lineno}"


def test_a_runner_imports_nothing_after_its_start() -> None:
    files = modules_of_a_runner()
    assert {"life.py", "load.py", "create_files.py"} <= {file.name for file in files}
    assert [line for file in sorted(files) for line in late_imports(file)] == []


def test_a_late_import_is_found(tmp_path: Path) -> None:
    file = tmp_path / "late.py"
    file.write_text("import os\n\n\ndef run() -> None:\n    import json\n    importlib.import_module('x')\n")
    assert list(late_imports(file)) == ["late.py:5", "late.py:6"]
