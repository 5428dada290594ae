"""The routes of the API with the rules that they declare."""

from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from iotide_server.accounts.rules import Rule


@dataclass(frozen=True)
class DeclaredRoute:
    method: str
    path: str
    rules: tuple[Rule, ...]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def url(self, number: int = 1) -> str:
        """The path with `number` for every id."""
        parts = [str(number) if part.startswith("{") else part for part in self.path.split("/")]
        return "/".join(parts)


def declared_routes(app: FastAPI) -> list[DeclaredRoute]:
    """All API routes; the description at /openapi.json is none of ours."""
    return [
        DeclaredRoute(method, context.path or "", tuple(_rules(context.dependant)))
        for context in iter_route_contexts(app.routes)
        if isinstance(context.original_route, APIRoute)
        for method in sorted(context.methods or ())
    ]


def _rules(dependant: Dependant) -> list[Rule]:
    below = [rule for part in dependant.dependencies for rule in _rules(part)]
    return [dependant.call, *below] if isinstance(dependant.call, Rule) else below
