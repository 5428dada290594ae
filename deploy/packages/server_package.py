"""Builds the deb of the server: its own Python, without PostgreSQL and Redis, which are the distribution's.

It needs what agent_packages.py needs, and the server's wheel with dashboard and documentation.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Final

from packages.own_python import say
from packages.program_tree import Contents, make_tree
from packages.staging import Destination, completions, package_by_nfpm, stage_program

_EXAMPLES: Final = ("backup", "grafana", "prometheus", "proxy", "systemd")
"""Directories of deploy/."""


def make_deb(contents: Contents, destination: Destination) -> None:
    """Write the deb.

    Raises:
        BuildError: The tree cannot be built.
        subprocess.CalledProcessError: A program failed; it printed why.
    """
    with tempfile.TemporaryDirectory(prefix="iotide-packages-") as directory:
        stage = Path(directory)
        say("install the server on its Python")
        tree = stage / f"iotide-server-{contents.version}"
        make_tree(contents, tree)
        completions(contents, tree, stage / "completion")
        say("build the server's deb")
        stage_program(contents, tree, stage)
        for name in _EXAMPLES:
            shutil.copytree(contents.root / "deploy" / name, stage / "examples" / name)
        package_by_nfpm(contents, stage, destination, "deb")
