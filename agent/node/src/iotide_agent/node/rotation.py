"""Rotation of the node's credentials: requested, stored, confirmed to the server, then used.

At any crash, one of the two sets on disk is valid.
"""

import logging
import threading
from pathlib import Path
from typing import Final

from iotide_agent.core.transport import Refusal, Transport, Unreachable
from iotide_agent.node.identity import adopt_next, drop_next, keep_next, load_identity, next_identity
from iotide_wire.nodes import RotateRequest

_NOT_WANTED: Final = "rotation_not_wanted"
_UNKNOWN_TOKEN: Final = frozenset({401, 403})
_logger = logging.getLogger(__name__)


class Rotation:
    def __init__(self, state_directory: Path, transport: Transport) -> None:
        self._state_directory = state_directory
        self._transport = transport
        # hello and a heartbeat may run at once; only one of them must adopt the new credentials.
        self._lock = threading.RLock()
        self.is_fresh = False

    def settle(self) -> None:
        """Complete an interrupted rotation; raise Unreachable if the valid credentials are unknown."""
        with self._lock:
            self._settle()

    def _settle(self) -> None:
        found = next_identity(self._state_directory)
        if found is None:
            return
        try:
            self._transport.confirm(found.node_token)
        except Refusal as error:
            if error.status not in _UNKNOWN_TOKEN:
                raise
            # Newer ones were issued, or the server was restored from a backup: the present ones are valid.
            _logger.warning("rotation_given_up code=%s error=%s", error.code, error)
            drop_next(self._state_directory)
            return
        adopt_next(self._state_directory)
        self._transport.become(found.node_token)
        self.is_fresh = True
        _logger.info("rotated fingerprint=%s", found.fingerprint)

    def try_to_rotate(self, instance: str) -> None:
        """Keep the present credentials if that fails."""
        try:
            with self._lock:
                self._rotate(instance)
        except (Refusal, Unreachable, OSError) as error:
            _logger.warning("not_rotated error=%s", error)  # the next heartbeat requests it again

    def _rotate(self, instance: str) -> None:
        self.settle()
        try:
            given = self._transport.rotate(RotateRequest(agent_instance=instance))
        except Refusal as error:
            if error.code != _NOT_WANTED:
                raise
            return  # `settle` has just completed it
        present = load_identity(self._state_directory)
        changed = {"node_token": given.node_token, "broker": given.broker}
        keep_next(self._state_directory, present.model_copy(update=changed))
        self.settle()

    def take_change(self) -> bool:
        """Return true if the credentials changed since the last call, so that their users must restart."""
        was_fresh, self.is_fresh = self.is_fresh, False
        return was_fresh
