"""What the API takes and gives for templates."""

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
    """A plan to keep, for the cluster that it names; it need not be one that could be submitted now."""

    name: TemplateName
    plan: KeptPlan


class TemplatePatch(Input):
    """The fields of a template to change; what is left out stays."""

    name: TemplateName | None = None
    plan: KeptPlan | None = None


class ListedTemplate(Output):
    """A plan that is kept under a name."""

    id: int
    cluster_id: int
    cluster_name: str
    name: TemplateName
    owner: Annotated[PersonShown, Field(description="Who wrote it last; null when that person is gone")]
    plan: Annotated[CampaignPlan | None, Field(description="Null in a list where it has more than 16 KiB")]
    created_at: datetime
    changed_at: datetime


class TemplateOutput(ListedTemplate):
    """A plan that is kept under a name, whatever its size."""

    plan: CampaignPlan
