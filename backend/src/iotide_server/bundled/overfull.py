"""Deletes Redis data of nodes that store far more than wake-ups need."""

from collections.abc import Iterable, Mapping
from typing import Final

from redis import Redis

from iotide_server.bundled.acl import node_keys
from iotide_wire.units import MIB

# more than all messages and users of 10,000 nodes need
USUAL_BYTES: Final = 128 * MIB
_MOST_BYTES_A_NODE: Final = MIB  # six wake-ups of a few hundred bytes may wait for a node


def kept_bytes(admin: Redis) -> int:
    return int(admin.info("memory")["used_memory_dataset"])


def empty_overfull(admin: Redis, node_ids: Iterable[int]) -> Mapping[int, int]:
    """Delete the data of nodes beyond the limit. Return their bytes by node id. Raise RedisError."""
    if kept_bytes(admin) < USUAL_BYTES:
        return {}
    asked = [(node_id, key) for node_id in node_ids for key in node_keys(node_id)]
    with admin.pipeline(transaction=False) as pipe:
        for _, key in asked:
            pipe.memory_usage(key, samples=0)  # all elements: the first ones may be small on purpose
        sizes = pipe.execute()
    had: dict[int, int] = {}
    for (node_id, _), size_bytes in zip(asked, sizes, strict=True):
        had[node_id] = had.get(node_id, 0) + (size_bytes or 0)
    overfull = {node_id: size_bytes for node_id, size_bytes in had.items() if size_bytes > _MOST_BYTES_A_NODE}
    if overfull:
        admin.unlink(*(key for node_id in overfull for key in node_keys(node_id)))
    return overfull
