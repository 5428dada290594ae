"""`iotide-scratch`, the root program of scratch devices. It has no options; its only settings are scratch.toml."""

import os
import sys
from typing import Final

from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.service import Service, activated_socket
from iotide_agent.scratch.site import Site

_REFUSED: Final = 2
_UMASK: Final = 0o077


def main() -> int:
    """Serve the socket that systemd passes, until idle."""
    os.umask(_UMASK)
    try:
        Service(activated_socket(), Site(), sys.stderr).serve()
    except ScratchRefusedError as error:
        print(f"iotide-scratch: {error}", file=sys.stderr)  # noqa: T201 - for the journal
        return _REFUSED
    return 0
