"""Forms as agents announce them and the server returns them, for the browser's tests; see `./dev generate`."""

import json
import sys
from typing import Annotated, Any

from pydantic import Field

from iotide_agent.workloads.base import Options
from iotide_agent.workloads.option_types import AutoSize
from iotide_agent.workloads.registry import all_workloads


class ListOptions(Options):
    """All kinds of lists that an option can be."""

    sizes_bytes: tuple[Annotated[int, Field(ge=512, json_schema_extra={"x-unit": "bytes"})], ...] = Field(
        default=(4096, 65536), min_length=1, title="Sizes", description="At least one."
    )
    file_sizes_bytes: tuple[AutoSize, ...] = Field(default=("auto",), title="File sizes", description="Or auto.")
    depths: tuple[int, ...] = Field(
        default=(), max_length=3, title="Depths", description="Three at most.", json_schema_extra={"uniqueItems": True}
    )
    delays_seconds: tuple[Annotated[float, Field(json_schema_extra={"x-unit": "seconds"})], ...] | None = Field(
        default=None, min_length=1, title="Delays", description="Or none."
    )
    words: tuple[str, ...] = Field(default=(), title="Words", description="Any texts.")


def forms() -> dict[str, Any]:
    """Return the JSON Schema of each form by its name, without descriptions, so that rewording changes no test."""
    schemas = {name: one.options_schema() for name, one in all_workloads().items()}
    described: dict[str, Any] = {**schemas, "lists": ListOptions.model_json_schema()}
    return {name: _without_descriptions(schema) for name, schema in described.items()}


def _without_descriptions(schema: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(schema, list):
        return [_without_descriptions(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _without_descriptions(member) for name, member in schema.items() if name != "description"}


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(forms(), indent=2)}\n")
