"""Errors of templates."""

from iotide_server.kit.errors import ErrorKind

TEMPLATE_NOT_FOUND = ErrorKind(404, "template_not_found", field="template_id").says(
    "there is no template {template_id}"
)
TEMPLATE_NAME_TAKEN = ErrorKind(409, "template_name_taken", field="name").says(
    "the cluster already has a template {name}", "choose another name, or change or remove that template"
)
TEMPLATE_MOVES = ErrorKind(422, "template_moves", field="plan.cluster", shows="named").says(
    "plan.cluster: the template belongs to {cluster}, but the plan names {named}",
    "name {cluster}, or create a template for {named}",
)
