"""Forms as agents announce them and the server passes them on, for the browser's tests; see `./dev generate`."""

import json
import sys
from typing import Annotated, Any, Final

from pydantic import Field

from iotide_agent.workloads.base import Options
from iotide_agent.workloads.registry import workload
from iotide_agent.workloads.sizes import AutoSize

_WORKLOADS: Final = ("dd", "iozone", "bonnie")


class ListOptions(Options):
    """The lists that an option may be."""

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
    """The JSON Schema of each form by its name."""
    return {
        **{name: workload(name, {}).options_schema() for name in _WORKLOADS},
        "lists": ListOptions.model_json_schema(),
    }


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(forms(), indent=2)}\n")
