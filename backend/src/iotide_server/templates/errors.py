"""What can go wrong with templates."""

from iotide_server.kit.errors import ConflictError, InvalidInputError, NotFoundError


class TemplateNotFoundError(NotFoundError):
    """No such template, or none that the caller may see."""

    code = "template_not_found"

    def __init__(self, template_id: int) -> None:
        super().__init__(f"there is no template {template_id}", field="template_id", value=template_id)


class TemplateNameTakenError(ConflictError):
    """Another template of the cluster has the name."""

    code = "template_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the cluster has a template {name} already",
            field="name",
            value=name,
            remedy="choose another name, or change or remove that template",
        )


class TemplateMovesError(InvalidInputError):
    """A template stays with its cluster, whose nodes and targets its plan names."""

    code = "template_moves"

    def __init__(self, cluster: str, named: str) -> None:
        super().__init__(
            f"plan.cluster: the template is one of {cluster}, and the plan one for {named}",
            field="plan.cluster",
            value=named,
            remedy=f"name {cluster}, or create a template for {named}",
        )
