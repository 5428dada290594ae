"""API schemas of templates."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from iotide_server.campaigns.plain import check_plain
from iotide_server.kit.errors import within
from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_wire.base import Name
from iotide_wire.plan import CampaignPlan

TemplateName = Annotated[Name, Field(examples=["weekly-scratch"])]


def _check(plan: CampaignPlan) -> CampaignPlan:
    with within("plan"):
        return check_plain(plan)


KeptPlan = Annotated[CampaignPlan, AfterValidator(_check)]


class TemplateInput(Input):
    """Plan to store for the cluster that it names; it need not be valid now."""

    name: TemplateName
    plan: KeptPlan


class TemplatePatch(Input):
    """Fields of a template to change; missing ones stay."""

    name: TemplateName | None = None
    plan: KeptPlan | None = None


class ListedTemplate(Output):
    id: int
    cluster_id: int
    cluster_name: str
    name: TemplateName
    owner: Annotated[PersonShown, Field(description="Last author; null if that user was deleted")]
    plan: Annotated[CampaignPlan | None, Field(description="Null in lists if larger than 16 KiB")]
    created_at: datetime
    changed_at: datetime


class TemplateOutput(ListedTemplate):
    plan: CampaignPlan
