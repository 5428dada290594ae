"""Routes of templates."""

from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Operator, Viewer
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors
from iotide_server.templates import service
from iotide_server.templates.schemas import ListedTemplate, TemplateInput, TemplateOutput, TemplatePatch

router = APIRouter(tags=["templates"], route_class=KnownCallerRoute)


@router.get("/templates", summary="List templates")
def list_templates(
    principal: Viewer,
    session: Tx,
    paging: Paging,
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only templates of this cluster")] = None,
) -> Page[ListedTemplate]:
    """Return the templates that you may see, newest first."""
    return service.list_templates(session, principal, cluster_id, paging)


@router.post("/templates", summary="Create a template", status_code=201, responses=errors(404, 409))
def create_template(principal: Operator, session: Tx, now: Now, body: TemplateInput) -> TemplateOutput:
    """Store a plan without running it. Its nodes and targets are not checked until it is used."""
    return service.template(session, principal, service.create(session, principal, body, now))


@router.get("/templates/{template_id}", summary="Show a template", responses=errors(404))
def get_template(principal: Viewer, session: Tx, template_id: Id) -> TemplateOutput:
    """Return a template with its plan."""
    return service.template(session, principal, template_id)


@router.patch("/templates/{template_id}", summary="Change a template", responses=errors(404, 409))
def change_template(principal: Operator, session: Tx, now: Now, template_id: Id, body: TemplatePatch) -> TemplateOutput:
    """Change the name or the plan of a template."""
    service.change(session, principal, template_id, body, now)
    return service.template(session, principal, template_id)


@router.delete("/templates/{template_id}", summary="Remove a template", status_code=204, responses=errors(404))
def remove_template(principal: Operator, session: Tx, template_id: Id) -> None:
    """Campaigns and schedules that were created from it stay."""
    service.remove(session, principal, template_id)
