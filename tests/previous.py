"""Previous releases: agents from the kept wheels, and databases from their dumps."""

import gzip
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Final

import psycopg

from iotide_server.backup.clients import choose_clients

RELEASES: Final = Path(__file__).parent / "data/releases"
PREVIOUS: Final = "0.1.0"
DUMP_MAJOR: Final = 15
_SCRIPT: Final = "#!{python}\nimport sys\nfrom iotide_agent.cli.agent import main\nsys.exit(main())\n"


def install_agent(version: str, directory: Path) -> Path:
    """Install the agent of a release in a separate environment with the packages of this release's lock file;
    return its `bin`.

    There is no network, so pip cannot install it; PYTHONPATH would not override this release's own code.
    """
    venv.create(directory, symlinks=True)
    packages = next(directory.glob("lib/python*/site-packages"))
    for wheel in sorted((RELEASES / version).glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(packages)
    # Python searches no .pth files in a path that another .pth file adds, so this checkout stays outside.
    (packages / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    script = directory / "bin/iotide-agent"
    script.write_text(_SCRIPT.format(python=directory / "bin/python"))
    script.chmod(0o755)
    return directory / "bin"


def load_database(version: str, database_url: str) -> None:
    """Load the dump of a release's database into an empty database."""
    clients = choose_clients(at_least=DUMP_MAJOR)
    clients.load(database_url, RELEASES / version / "database.dump")


def load_triage(version: str, database_url: str) -> None:
    """Load a release's triaged alerts into an empty database of its schema."""
    with gzip.open(RELEASES / version / "triage.sql.gz") as kept, psycopg.connect(database_url) as connection:
        connection.execute(kept.read())
