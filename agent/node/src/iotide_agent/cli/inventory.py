"""The commands `iotide nodes` and `iotide targets`."""

from typing import Any

import typer
from rich.table import Table

from iotide_agent.cli.api import Document
from iotide_agent.cli.clusters import OnlyCluster, chosen_clusters
from iotide_agent.cli.display import minute_of, table_of
from iotide_agent.cli.server import AsJson, opened, show
from iotide_wire.units import format_bytes, format_percent


def add_to(app: typer.Typer) -> None:
    app.command("nodes")(list_nodes)
    app.command("targets")(list_targets)


def list_nodes(context: typer.Context, *, cluster: OnlyCluster = None, as_json: AsJson = False) -> None:
    """List nodes that are not retired, with their state and what they run."""
    with opened(context) as api:
        clusters = chosen_clusters(api, cluster)
        answers = [
            node | {"cluster_name": name}
            for cluster_id, name in clusters.items()
            for node in api.items(f"/clusters/{cluster_id}/nodes", {})
        ]
    show(answers, lambda: _node_table(answers), as_json=as_json)


def _node_table(nodes: list[Document]) -> Table:
    table = table_of("id", "node", "cluster", "state", "last seen", "activity", "agent", "system")
    for node in nodes:
        table.add_row(
            str(node["id"]),
            node["name"],
            node["cluster_name"],
            _state(node),
            minute_of(node["last_seen_at"]),
            ", ".join(map(_activity, node["active_orders"])) or "idle",
            node["agent_version"] or "",
            _system(node["facts"]),
        )
    return table


def _state(node: Document) -> str:
    drained = [f"drained: {node['drain']['reason']}"] if node["drain"] else []
    problem = [node["problem"]] if node["problem"] else []
    stuck = [f"{one['process']} cannot be killed" for one in node["stuck"]]
    return "; ".join([node["state"].replace("_", " "), *drained, *problem, *stuck])


def _activity(order: Document) -> str:
    done = "" if order["progress"] is None else f" {format_percent(order['progress'])}"
    return f"run {order['run_id']}{done}"


def _system(facts: dict[str, Any]) -> str:
    cpus, memory, kernel = (facts.get(name) for name in ("cpu.count", "memory.total_bytes", "kernel.release"))
    known = [
        f"{cpus} CPUs" if isinstance(cpus, int) else "",
        format_bytes(memory) if isinstance(memory, int | float) else "",
        f"Linux {kernel}" if kernel else "",
    ]
    return ", ".join(filter(None, known))


def list_targets(context: typer.Context, *, cluster: OnlyCluster = None, as_json: AsJson = False) -> None:
    """List targets that are not retired, with their file systems and free space."""
    with opened(context) as api:
        clusters = chosen_clusters(api, cluster)
        answers = [
            target | {"cluster_name": name}
            for cluster_id, name in clusters.items()
            for target in api.items("/targets", {"cluster_id": cluster_id})
        ]
    show(answers, lambda: _target_table(answers), as_json=as_json)


def _target_table(targets: list[Document]) -> Table:
    table = table_of("id", "target", "cluster", "path", "file system", "nodes", "free", "problem")
    for target in targets:
        mounts = target["mounts"]
        free = [mount["free_bytes"] for mount in mounts if mount["free_bytes"] is not None]
        drained = [f"drained: {target['drain']['reason']}"] if target["drain"] else []
        problems = [f"{mount['node_name']}: {mount['problem']}" for mount in mounts if mount["problem"]]
        kinds = ", ".join(dict.fromkeys(mount["fstype"] for mount in mounts if mount["fstype"])) or "unknown"
        table.add_row(
            str(target["id"]),
            target["name"],
            target["cluster_name"],
            target["path"],
            f"{kinds} ({'shared' if target['scope'] == 'shared' else 'private to each node'})",
            ", ".join(mount["node_name"] for mount in mounts),
            format_bytes(min(free)) if free else "unknown",
            "; ".join([*drained, *problems]),
        )
    return table
