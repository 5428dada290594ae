"""Places the ranks of one MPI program on its nodes."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class RankLayout:
    """Nodes of one MPI program in the order of its launcher. Each has the next `tasks_per_node` ranks.

    Attributes:
        addresses: of the nodes in the same order, for programs that connect their parts themselves.
    """

    nodes: tuple[str, ...]
    tasks_per_node: int
    addresses: tuple[str, ...] = ()

    @classmethod
    def of_nodes(cls, nodes: tuple[str, ...], tasks_per_node: int, addresses: tuple[str, ...] = ()) -> Self:
        """Raise ValueError if no program could be started so."""
        if not nodes or len(set(nodes)) != len(nodes) or tasks_per_node < 1:
            raise ValueError(f"{tasks_per_node} tasks on each of {list(nodes)}: name each node once, with a task each")
        if addresses and len(addresses) != len(nodes):
            raise ValueError(f"{len(addresses)} addresses for {len(nodes)} nodes: give each node one")
        return cls(nodes, tasks_per_node, addresses)

    @property
    def tasks(self) -> int:
        return len(self.nodes) * self.tasks_per_node

    @property
    def first_node_map(self) -> str:
        """Return a digit for each rank: 1 on the node of rank 0, else 0. mdtest prints this."""
        return "1" * self.tasks_per_node + "0" * (self.tasks - self.tasks_per_node)

    def node_of(self, rank: int) -> str:
        return self.nodes[rank // self.tasks_per_node]

    def address_of(self, rank: int) -> str:
        return self.addresses[rank // self.tasks_per_node]

    def ranks_of(self, node: str) -> range:
        first = self.nodes.index(node) * self.tasks_per_node
        return range(first, first + self.tasks_per_node)
