"""Third-party packages, as an installer leaves them."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

TEMPLATE: Final = Path(__file__).parents[2] / "docs/plug-ins/template"


def install_module(site: Path, group: str, module: str, source: str, attribute: str) -> None:
    """Write a package of one module to the directory `site`, with one entry point."""
    (site / f"{module}.py").write_text(source)
    metadata = site / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{module} = {module}:{attribute}\n")


def install_template(site: Path) -> dict[str, str]:
    """Build the template of docs/plug-ins and install it into `site`; return the environment of an agent with it."""
    uv = shutil.which("uv")
    assert uv, "uv is not installed; ./dev installs it"
    # The cache would return an earlier build if only a module of the template changed.
    command = [uv, "pip", "install", "--quiet", "--offline", "--no-cache", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--python", sys.executable, "--target", site, TEMPLATE], check=True)
    return {"PYTHONPATH": str(site)}
