"""New credentials for this node while it works: asked for, kept on the disk, told to the server, and only then used.

Whatever dies in between, one of the two sets that are on the disk opens the server: the new one is kept before the
server hears of it, and the old one is given up only after that.
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
    """The credentials in one state directory, and the client that uses them; several threads may use it."""

    def __init__(self, state_directory: Path, transport: Transport) -> None:
        self._state_directory = state_directory
        self._transport = transport
        # A hello and a beat are said at once at times; of two that adopt, one would find nothing left to rename.
        self._lock = threading.RLock()
        self.is_fresh = False

    def settle(self) -> None:
        """End a rotation that was begun; raise Unreachable where nobody knows which credentials are good."""
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
            # Others were made since, or the server was set back: the present ones are still good.
            _logger.warning("rotation_given_up code=%s error=%s", error.code, error)
            drop_next(self._state_directory)
            return
        adopt_next(self._state_directory)
        self._transport.become(found.node_token)
        self.is_fresh = True
        _logger.info("rotated fingerprint=%s", found.fingerprint)

    def try_to_rotate(self, instance: str) -> None:
        """Get new credentials for this agent process and use them; where that fails, keep the present ones."""
        try:
            with self._lock:
                self._rotate(instance)
        except (Refusal, Unreachable, OSError) as error:
            _logger.warning("not_rotated error=%s", error)  # the next beat asks again

    def _rotate(self, instance: str) -> None:
        self.settle()
        try:
            given = self._transport.rotate(RotateRequest(agent_instance=instance))
        except Refusal as error:
            if error.code != _NOT_WANTED:
                raise
            return  # what `settle` has just ended was it
        present = load_identity(self._state_directory)
        changed = {"node_token": given.node_token, "broker": given.broker}
        keep_next(self._state_directory, present.model_copy(update=changed))
        self.settle()

    def take_news(self) -> bool:
        """Whether they were changed since the last call, so that who uses the old ones must be started anew."""
        was_fresh, self.is_fresh = self.is_fresh, False
        return was_fresh
