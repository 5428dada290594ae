"""Orders as the server would send them."""

from typing import Any

from iotide_wire.messages import Order, OrderRole, OrderTarget

DD_OPTIONS = {"file_size_bytes": 8 * 1024**2, "block_size_bytes": 1024**2}


def make_order(order_id: int = 1, **changes: object) -> Order:
    """Return an order for dd on a fictitious target, with these changes."""
    target = OrderTarget(target_id=1, name="t", path="/t", fstype="ext4", source="/dev/x", reserve_bytes=0)
    values: dict[str, Any] = {
        "order_id": order_id,
        "run_id": 100 + order_id,
        "attempt": 1,
        "fence": 10 * order_id,
        "role": OrderRole.LOAD,
        "campaign": "test",
        "repeat": 1,
        "workload": "dd",
        "workload_revision": 1,
        "schema_sha256": "0" * 64,
        "options": DD_OPTIONS,
        "targets": (target,),
        "node_mode": "exclusive",
        "time_limit_seconds": 120.0,
    }
    return Order.model_validate(values | changes)
