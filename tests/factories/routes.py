"""Routes of the API with their declared rules."""

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from iotide_server.accounts.roles.rules import AccessRule


@dataclass(frozen=True)
class DeclaredRoute:
    """A route; `status` is that of its success."""

    method: str
    path: str
    rules: tuple[AccessRule, ...]
    status: int

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def url(self, ids: Mapping[str, object] | None = None) -> str:
        """Return the path with these values of its parameters, by default 1 for each."""
        parts = [_filled(part[1:-1], ids) if part.startswith("{") else part for part in self.path.split("/")]
        return "/".join(parts)


def declared_routes(app: FastAPI) -> list[DeclaredRoute]:
    """Return all API routes; /openapi.json belongs to FastAPI."""
    return [
        DeclaredRoute(method, context.path or "", _rules_of(context.dependant), _status(context.original_route))
        for context in iter_route_contexts(app.routes)
        if isinstance(context.original_route, APIRoute)
        for method in sorted(context.methods or ())
    ]


def _rules_of(dependant: Dependant) -> tuple[AccessRule, ...]:
    """Return each rule once, however many parts of the route depend on it."""
    return tuple(dict.fromkeys(_rules(dependant)))


def _status(route: APIRoute) -> int:
    return route.status_code or 200


def _filled(parameter: str, ids: Mapping[str, object] | None) -> str:
    return "1" if ids is None else str(ids[parameter])


def _rules(dependant: Dependant) -> list[AccessRule]:
    below = [rule for part in dependant.dependencies for rule in _rules(part)]
    return [dependant.call, *below] if isinstance(dependant.call, AccessRule) else below
