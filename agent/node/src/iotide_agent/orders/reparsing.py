"""Parsing of an old run's kept raw output with the installed parsers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from iotide_agent.orders.parsing import RawOutput, RunReader
from iotide_agent.orders.plan import parse_plan
from iotide_agent.orders.results import ENDED_NAME, FLAGS, JUDGED_NAME, PLAN_NAME, merged, parse_ended
from iotide_agent.runner.card import output_name
from iotide_agent.workloads.base import Workload
from iotide_wire.messages import Outcome
from iotide_wire.reading import OrderReading


class UnreadableError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class KeptOutput(RawOutput):
    texts: Mapping[str, str]

    def stream(self, name: str) -> str:
        return self.texts.get(name, "")

    def file(self, ordinal: int, path: Path) -> str | None:
        return self.texts.get(output_name(ordinal, path.name))


def read_order_again(
    workload: Workload[Any], options: Mapping[str, Any], order_id: int, texts: Mapping[str, str]
) -> OrderReading:
    """Parse an order's output again; raise UnreadableError if something is missing or refused.

    Flags in `judged.json` are kept, because the node's observations behind them are gone.
    """
    missing = [name for name in (ENDED_NAME, PLAN_NAME) if name not in texts]
    if missing:
        raise UnreadableError(
            f"{' and '.join(missing)} of order {order_id} was not kept; its agent was too old to keep it"
        )
    try:
        ended, plan = parse_ended(texts[ENDED_NAME]), parse_plan(texts[PLAN_NAME])
        judged = FLAGS.validate_json(texts[JUDGED_NAME]) if JUDGED_NAME in texts else []
        reader = RunReader(ended, plan, workload, workload.options_type.model_validate(options))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "its records"
        raise UnreadableError(
            f"{field} of order {order_id} is not valid for {workload.name} here: {first['msg']}"
        ) from error
    verdict = reader.verdict(reader.outcomes(KeptOutput(texts)))
    if verdict.outcome is not Outcome.FINISHED:
        raise UnreadableError(f"revision {workload.revision} of {workload.name} refuses the output: {verdict.reason}")
    return OrderReading(order_id=order_id, samples=verdict.samples, flags=merged([*verdict.flags, *judged]))
