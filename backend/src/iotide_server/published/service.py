"""Read access to published results."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row
from sqlalchemy.orm import Session

from iotide_server.campaigns import models
from iotide_server.published import repository
from iotide_server.published.repository import PrintedNumber
from iotide_server.published.schemas import (
    ClaimedRatio,
    PublishedCampaignOutput,
    PublishedClaim,
    PublishedSourceOutput,
    PublishedSources,
)
from iotide_server.published.sources import Claim
from iotide_wire.units import format_number

SLACK: Final = 0.1


def list_sources(session: Session) -> PublishedSources:
    by_source: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for row in repository.campaigns(session):
        by_source[row.source_id].append(row)
    return PublishedSources(
        items=[_shown(session, source, by_source[source.id]) for source in repository.sources(session)]
    )


def _shown(session: Session, source: models.PublishedSource, campaigns: Sequence[Row[Any]]) -> PublishedSourceOutput:
    printed = dict(source.printed)
    claim = printed.pop("claim")
    return PublishedSourceOutput(
        **printed,
        claim=None if claim is None else _judged(session, source.id, Claim.model_validate(claim)),
        campaigns=[PublishedCampaignOutput.model_validate(row) for row in campaigns],
    )


def _judged(session: Session, source_id: int, claim: Claim) -> PublishedClaim:
    ratios = ratios_of(claim, repository.numbers(session, source_id, claim.metric, json.dumps(claim.labels)))
    agreeing = [one for one in ratios if abs(one.ratio / claim.ratio - 1) <= SLACK]
    return PublishedClaim.of_row(
        claim,
        ratios=ratios,
        is_supported=bool(agreeing),
        verdict=_worded(claim, [one.ratio for one in ratios], len(agreeing)),
    )


def ratios_of(claim: Claim, numbers: Sequence[PrintedNumber]) -> list[ClaimedRatio]:
    by_options: dict[str, dict[str, PrintedNumber]] = defaultdict(dict)
    for number in numbers:
        by_options[json.dumps(number.options, sort_keys=True)][number.target] = number
    return [
        ClaimedRatio(options=pair[claim.target].options, ratio=pair[claim.target].value / pair[claim.against].value)
        for pair in by_options.values()
        if claim.target in pair and claim.against in pair
    ]


def _worded(claim: Claim, ratios: Sequence[float], agreeing: int) -> str:
    low, high = format_number(min(ratios)), format_number(max(ratios))
    given = low if low == high else f"{low} to {high}"
    if agreeing == 0:
        support = f"“{format_number(claim.ratio)} times” is not supported by any of its {len(ratios)} settings"
    else:
        support = f"“{format_number(claim.ratio)} times” agrees with {agreeing} of its {len(ratios)} settings"
    return f"Its own values give {given} times for {claim.target} : {claim.against}. {support}."
