"""lintian and rpmlint on the packages, with the overrides of the repository."""

import re
import subprocess
from pathlib import Path
from typing import Final

from packaged.building import Built
from packaged.debian_root import PackageTestError

_RPMLINT: Final = Path(__file__).resolve().parents[2] / "deploy/packages/rpmlint.toml"
_FOUND: Final = re.compile(r"(\d+) errors?, (\d+) warnings?")


def lint(built: Built) -> str:
    """Return what was found clean.

    Raises:
        PackageTestError: One of them found an error or a warning.
    """
    lintian = subprocess.run(
        ["lintian", "--fail-on", "error,warning", "--allow-root", built.debs[0], built.server_debs[0]],
        capture_output=True,
        text=True,
        check=False,
    )
    if lintian.returncode != 0:
        raise PackageTestError(f"lintian:\n{lintian.stdout}{lintian.stderr}")
    rpmlint = subprocess.run(
        ["rpmlint", "--config", _RPMLINT, built.rpms[0]], capture_output=True, text=True, check=False
    )
    found = _FOUND.search(rpmlint.stdout)
    if found is None or found.groups() != ("0", "0"):
        raise PackageTestError(f"rpmlint:\n{rpmlint.stdout}{rpmlint.stderr}")
    return "clean"
