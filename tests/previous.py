"""Releases that are out: their agents, from the wheels that are kept, and their databases, from their dumps."""

import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Final

from iotide_server.backup.clients import choose_clients

RELEASES: Final = Path(__file__).parent / "data/releases"
PREVIOUS: Final = "0.1.0"
DUMP_MAJOR: Final = 15
_SCRIPT: Final = "#!{python}\nimport sys\nfrom iotide_agent.cli.agent import main\nsys.exit(main())\n"


def install_agent(version: str, directory: Path) -> Path:
    """The agent of a release in an environment of its own, with the packages of this one's lock file; its `bin`.

    Without the network, so not by pip; and not by PYTHONPATH, which this release's own code would get around.
    """
    venv.create(directory, symlinks=True)
    packages = next(directory.glob("lib/python*/site-packages"))
    for wheel in sorted((RELEASES / version).glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(packages)
    # A path that another one's .pth file adds is not searched for .pth files itself, so this checkout stays outside.
    (packages / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    script = directory / "bin/iotide-agent"
    script.write_text(_SCRIPT.format(python=directory / "bin/python"))
    script.chmod(0o755)
    return directory / "bin"


def load_database(version: str, database_url: str) -> None:
    """Load what a server of the release kept into an empty database."""
    clients = choose_clients(at_least=DUMP_MAJOR)
    clients.load(database_url, RELEASES / version / "database.dump")
