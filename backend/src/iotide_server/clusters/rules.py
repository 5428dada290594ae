"""The rule of the agents' routes: a node token of a node that is not retired."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from iotide_server.accounts.authentication import NODE_TOKEN_PREFIX
from iotide_server.accounts.browser_cookies import caller_address
from iotide_server.accounts.principal import Principal, PrincipalKind
from iotide_server.accounts.rules import Bearer, Rule
from iotide_server.accounts.secret import digest
from iotide_server.clusters import repository
from iotide_server.kit.errors import NotAllowedError, NotAuthenticatedError
from iotide_server.kit.web import Tx


@dataclass(frozen=True)
class IsNode(Rule):
    """A node's agent; the principal's id is the node's."""

    def __call__(self, request: Request, session: Tx, bearer: Bearer) -> Principal:
        """Let pass who holds a living node's token."""
        if bearer is None:
            raise NotAuthenticatedError(
                "nobody is signed in", remedy="send the header Authorization: Bearer <node token>"
            )
        if not bearer.credentials.startswith(NODE_TOKEN_PREFIX):
            raise NotAllowedError("this route is for node agents", remedy="enroll the node and use its token")
        node = repository.live_node_by_token(session, digest(bearer.credentials))
        if node is None:
            raise NotAuthenticatedError(
                "unknown node token, or the node was retired", remedy="enroll the node again with a new join token"
            )
        return Principal(PrincipalKind.NODE, node.id, node.name, caller_address(request))


NodeAgent = Annotated[Principal, Depends(IsNode(), scope="function")]
