"""Last step of an installation or upgrade of the deb or the rpm: python3 -I -m iotide_agent.setup.packaged."""

import sys
from typing import Final

from iotide_agent.node.config import SYSTEM_STATE
from iotide_agent.setup.scratch import install_scratch
from iotide_agent.setup.service import hand_over
from iotide_agent.setup.texts import SCRATCH_SERVICE_UNIT, UNIT, USER
from iotide_wire.setup.changes import Changes, SetupError
from iotide_wire.setup.services import UNITS, add_user, restart_enabled

_FAILED: Final = 1


def finish(changes: Changes) -> None:
    """Create user and state directory, and restart an enabled agent; never start a new one.

    Raise SetupError or OSError.
    """
    add_user(changes, USER)
    if not SYSTEM_STATE.exists():
        hand_over(SYSTEM_STATE, changes)
    if (UNITS / SCRATCH_SERVICE_UNIT).exists():  # it names this package's Python
        install_scratch(changes)
    # Loads continue, see KillMode= of the unit.
    restart_enabled(changes, UNIT)


def main() -> int:
    try:
        finish(Changes(lambda text: print(f"iotide-agent: {text}"), is_dry=False))  # noqa: T201 - shown by dpkg or rpm
    except (SetupError, OSError) as error:
        print(f"iotide-agent: {error}", file=sys.stderr)  # noqa: T201 - shown by dpkg or rpm
        return _FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
