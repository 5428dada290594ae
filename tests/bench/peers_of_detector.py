"""Detectors of other systems in their default form; they are installed separately, without their dependencies."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Final, TypeAlias

Detector: TypeAlias = Callable[[Sequence[float]], list[int]]
"""From the values of a series to the indices of the first runs after its changes."""

PACKAGES: Final = ("apache-otava==0.8.0", "asv==0.6.6")
DIRECTORY: Final = Path(__file__).parents[2] / ".tools" / "detectors"
FIXED_RATIO: Final = 0.02
FIXED_RUNS: Final = 5


def others() -> dict[str, Detector]:
    """Return Apache Otava with its defaults, asv, and the fixed rule of 2 %."""
    installed = DIRECTORY / ".installed"
    if not installed.exists() or installed.read_text() != " ".join(PACKAGES):
        command = ["uv", "pip", "install", "--quiet", "--no-deps", "--target", str(DIRECTORY), *PACKAGES]
        subprocess.run(command, check=True)
        installed.write_text(" ".join(PACKAGES))
    sys.path.append(str(DIRECTORY))
    _without_its_init("asv")  # it imports all of its commands and their dependencies
    otava = importlib.import_module("otava.analysis")
    step_detect = importlib.import_module("asv.step_detect")

    def by_otava(values: Sequence[float]) -> list[int]:
        found, _ = otava.compute_change_points(list(values))
        return [change.index for change in found]

    def by_asv(values: Sequence[float]) -> list[int]:
        return [step[0] for step in step_detect.detect_steps(list(values))[1:]]

    return {"Apache Otava": by_otava, "asv": by_asv, "fixed 2 %": fixed_rule}


def fixed_rule(values: Sequence[float]) -> list[int]:
    """Return each run that differs by 2 % from the median of the five before it, a common dashboard rule."""
    return [
        number
        for number in range(FIXED_RUNS, len(values))
        if abs(values[number] / median(values[number - FIXED_RUNS : number]) - 1) > FIXED_RATIO
    ]


def _without_its_init(name: str) -> None:
    found = importlib.util.find_spec(name)
    if found is None or found.submodule_search_locations is None:
        raise SystemExit(f"detector: {name} was installed into {DIRECTORY} and is not there")
    package = ModuleType(name)
    package.__path__ = list(found.submodule_search_locations)
    sys.modules[name] = package
