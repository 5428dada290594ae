"""Groups of nodes in plans, such as `@rack1`, as ClusterShell on this machine defines them.

ClusterShell's own command answers, so groups are those that the administrator uses elsewhere. Plans without groups
need no further package. See nodeset(1).
"""

import re
import subprocess
from collections.abc import Callable
from typing import Any, Final

from iotide_agent.cli.problems import Problem, RefusedError
from iotide_wire.host_lists import GROUP, MOST_HOSTS
from iotide_wire.units import format_seconds

_FIELDS: Final = frozenset({"nodes", "observers"})
_WITHOUT_NODES: Final = frozenset({"options", "sweep"})
_NODE_SET: Final = re.compile(r"[@A-Za-z0-9][A-Za-z0-9@._:,/\[\]!&^*?-]*")
_ANSWER_SECONDS: Final = 30.0

Expand = Callable[[str], list[str]]


def with_groups(document: object) -> object:
    """Return a plan with the nodes of its groups in their place; raise RefusedError."""
    return _walk(document, nodes_of_group)


def nodes_of_group(text: str) -> list[str]:
    """Return the nodes of a ClusterShell node set such as `@rack1,!node07`; raise RefusedError."""
    if _NODE_SET.fullmatch(text) is None:
        raise _refused(text, "is no node set", "write a group such as @rack1; see nodeset(1)")
    try:
        done = subprocess.run(
            ["nodeset", "--expand", "--separator=\n", text],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        remedy = "install ClusterShell (package clustershell), or write the nodes, for instance node[001-128]"
        raise _refused(text, "is a group, and ClusterShell's nodeset is not installed here", remedy) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        words = f"is a group, and nodeset gave no answer within {format_seconds(_ANSWER_SECONDS)}"
        raise _refused(text, words, "write the nodes, for instance node[001-128]") from error
    nodes = done.stdout.decode(errors="replace").split()
    if done.returncode != 0 or not nodes:
        said = " ".join(done.stderr.decode(errors="replace").split())[:300] or "it has no nodes"
        raise _refused(text, f"is not known to ClusterShell here: {said}", "list the groups with `nodeset -l`")
    if len(nodes) > MOST_HOSTS:
        raise _refused(text, f"has {len(nodes)} nodes", f"name at most {MOST_HOSTS}")
    return nodes


def _walk(value: object, expand: Expand) -> object:
    if isinstance(value, list):
        return [_walk(one, expand) for one in value]
    if not isinstance(value, dict):
        return value
    found: dict[Any, object] = {}
    for name, inner in value.items():
        if name in _FIELDS:
            found[name] = _expanded(inner, expand)
        else:
            found[name] = inner if name in _WITHOUT_NODES else _walk(inner, expand)
    return found


def _expanded(given: object, expand: Expand) -> object:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not any(isinstance(text, str) and GROUP in text for text in texts):
        return given
    nodes: list[object] = []
    for text in texts:
        nodes += expand(text) if isinstance(text, str) and GROUP in text else [text]
    return list(dict.fromkeys(nodes)) if all(isinstance(node, str) for node in nodes) else nodes


def _refused(text: str, words: str, remedy: str) -> RefusedError:
    return RefusedError([Problem("unknown_nodes", f'"{text[:100]}" {words}', "nodes", text, remedy)])
