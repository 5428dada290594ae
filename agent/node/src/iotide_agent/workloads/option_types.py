"""Types of options: units by which the browser's form and the command read a number, and choices of a list."""

from typing import Annotated, Any, Literal

from pydantic import Field

Bytes = Annotated[int, Field(json_schema_extra={"x-unit": "bytes"})]
AutoSize = Annotated[
    Annotated[Bytes, Field(ge=512, le=2**60)] | Literal["auto"],
    Field(union_mode="left_to_right"),
]
"""A number of bytes, or `auto`: twice the node's memory."""
BytesPerSecond = Annotated[int, Field(json_schema_extra={"x-unit": "bytes_per_second"})]
"""A rate, which people may write in Mbit/s."""
Seconds = Annotated[float, Field(json_schema_extra={"x-unit": "seconds"})]
WholeSeconds = Annotated[int, Field(json_schema_extra={"x-unit": "seconds"})]


def choices(*default: str, title: str, needs: str | None = None) -> Any:  # noqa: ANN401 - as Field
    """Return the field of a tuple that names each choice once at most, and `needs` in any case."""
    needed = {} if needs is None else {"contains": {"const": needs}}
    return Field(default=default, min_length=1, title=title, json_schema_extra={"uniqueItems": True} | needed)
