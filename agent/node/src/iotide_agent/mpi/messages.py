"""Forms of the messages of a start channel, so that no other one reaches head or member."""

import json
import re
from collections.abc import Mapping
from types import NoneType
from typing import Any, Final

from iotide_agent.mpi.frames import FrameError

Words = Mapping[str, Any]

_LARGEST_STATUS: Final = 255
_LARGEST_SIGNAL: Final = 64
_PATTERNS: Final = {
    "code": re.compile(r"[a-z][a-z0-9_]{0,60}"),  # as the server takes it
    "host": re.compile(r"[!-~]{1,253}"),
}
_FIELDS: Final[Mapping[str, Mapping[str, tuple[type, ...]]]] = {
    "heartbeat": {},
    "share": {"directories": (list,), "nonce": (str,), "host": (str,)},
    "shared": {},
    "unshared": {"code": (str,), "reason": (str,)},
    "look": {},
    "seen": {"nonce": (str,)},
    "moved": {"bytes": (int,)},
    "start": {"step": (int,), "part": (int,), "words": (list,)},
    "stop": {"part": (int,)},
    "over": {"step": (int,)},
    "started": {"part": (int,), "lingers": (bool,)},
    "refused": {"part": (int,), "refusal": (str,), "reason": (str,)},
    "ended": {
        "part": (int,),
        "left_over": (int,),
        "exit_status": (int, NoneType),
        "signal": (int, NoneType),
        "failure": (str, NoneType),
    },
    "left": {"left_over": (int,)},
}


def read_message(body: bytes) -> Words:
    """Return a message of a known form; raise FrameError."""
    try:
        words = json.loads(body)
    except (ValueError, RecursionError):
        words = None
    if not isinstance(words, dict) or not _is_known(words):
        raise FrameError("a message of an unknown form")
    return words


def _is_known(words: dict[str, Any]) -> bool:
    kind = words.get("kind")
    fields = _FIELDS.get(kind) if isinstance(kind, str) else None
    if fields is None or not all(name in words and isinstance(words[name], of) for name, of in fields.items()):
        return False
    return (
        all(isinstance(word, str) for name in ("words", "directories") for word in words.get(name, ()))
        and all(pattern.fullmatch(words[name]) for name, pattern in _PATTERNS.items() if name in fields)
        and 0 <= (words.get("exit_status") or 0) <= _LARGEST_STATUS
        and 0 <= (words.get("signal") or 0) <= _LARGEST_SIGNAL
    )
