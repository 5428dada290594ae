"""Last step of an installation or upgrade of the deb: python3 -I -m iotide_server.setup.packaged."""

import sys
from typing import Final

from iotide_server.bundled.privileges import USER
from iotide_server.setup.service import create_state
from iotide_server.setup.texts import STATE, UNIT
from iotide_wire.setup.changes import Changes, SetupError
from iotide_wire.setup.services import add_user, restart_enabled

_FAILED: Final = 1


def finish(changes: Changes) -> None:
    """Create user and state directory, and restart an enabled server, which migrates the database.

    Raise SetupError or OSError.
    """
    add_user(changes, USER)
    if not STATE.exists():  # otherwise `setup` checks it
        create_state(changes)
    restart_enabled(changes, UNIT)


def main() -> int:
    try:
        finish(Changes(lambda text: print(f"iotide-server: {text}"), is_dry=False))  # noqa: T201 - shown by dpkg
    except (SetupError, OSError) as error:
        print(f"iotide-server: {error}", file=sys.stderr)  # noqa: T201 - shown by dpkg
        return _FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
