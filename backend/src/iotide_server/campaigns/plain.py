"""Checks of incoming plans: reject what PostgreSQL cannot store."""

from collections.abc import Iterator
from math import isfinite
from typing import Annotated, Final

from pydantic import AfterValidator

from iotide_server.kit.errors import InvalidInputError
from iotide_server.kit.web import STORABLE_REMEDY, is_storable
from iotide_wire.plan import CampaignPlan
from iotide_wire.units import KIB

MAX_DEPTH: Final = 16
MOST_PLAN_BYTES: Final = 256 * KIB
LISTED_PLAN_BYTES: Final = 16 * KIB
_LARGEST_INTEGER: Final = 2**63 - 1


def check_plain(plan: CampaignPlan) -> CampaignPlan:
    """Raise InvalidInputError for a plan that PostgreSQL cannot store."""
    _check("note", plan.note)
    for index, stage in enumerate(plan.stages):
        _check(f"stages[{index}].variant", stage.variant)
        _check(f"stages[{index}].pause", stage.pause)
    for index, choice in enumerate(plan.workloads):
        for variant in choice.variants or ():
            _check(f"workloads[{index}].variants", variant)
        for part, given in (("options", choice.options), ("sweep", choice.sweep)):
            for path, value in _walk(f"workloads[{index}].{part}", given):
                _check(path, value)
    size_bytes = len(plan.model_dump_json())
    if size_bytes > MOST_PLAN_BYTES:
        raise InvalidInputError(
            f"workloads: the plan has {size_bytes:,} bytes of JSON; at most {MOST_PLAN_BYTES:,} are allowed",
            field="workloads",
            value=size_bytes,
            remedy="shorten texts, use fewer values, name each node once, or submit several campaigns",
        )
    return plan


def _walk(path: str, value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    yield path, value
    if isinstance(value, dict | list) and depth == MAX_DEPTH:
        remedy = "nest less deeply"
        raise InvalidInputError(f"{path}: more than {MAX_DEPTH} levels deep", field=path, remedy=remedy)
    if isinstance(value, dict):
        for name, member in value.items():
            _check(path, name)
            yield from _walk(f"{path}.{name}", member, depth + 1)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _walk(f"{path}[{index}]", member, depth + 1)


def _check(path: str, value: object) -> None:
    match value:
        case str() if not is_storable(value):
            raise InvalidInputError(f"{path}: the text cannot be stored", field=path, remedy=STORABLE_REMEDY)
        case float() if not isfinite(value):
            remedy = "give a finite number"
            raise InvalidInputError(f"{path}: {value} is not a finite number", field=path, value=value, remedy=remedy)
        case int() if abs(value) > _LARGEST_INTEGER:
            remedy = "give a number that fits into 64 bits"
            raise InvalidInputError(f"{path}: the number is too large", field=path, value=value, remedy=remedy)


PlanInput = Annotated[CampaignPlan, AfterValidator(check_plain)]
