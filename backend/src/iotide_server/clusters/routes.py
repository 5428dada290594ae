"""Routes of clusters."""

from fastapi import APIRouter

from iotide_server.accounts.rules import Admin, Viewer
from iotide_server.clusters import service
from iotide_server.clusters.schemas import Cluster, ClusterInput, ClusterPatch
from iotide_server.kit.pagination import Page, Paging
from iotide_server.kit.web import Id, Tx, errors

router = APIRouter(tags=["clusters"])


@router.get("/clusters", summary="List clusters")
def list_clusters(principal: Viewer, session: Tx, paging: Paging) -> Page[Cluster]:
    """The clusters that you may see, newest first."""
    return service.list_clusters(session, principal, paging).page(Cluster.of)


@router.post("/clusters", summary="Create a cluster", status_code=201, responses=errors(409))
def create_cluster(principal: Admin, session: Tx, body: ClusterInput) -> Cluster:
    """Needs the role admin for all clusters."""
    return Cluster.of(service.create_cluster(session, principal, body.name, body.description))


@router.get("/clusters/{cluster_id}", summary="Show a cluster", responses=errors(404))
def get_cluster(principal: Viewer, session: Tx, cluster_id: Id) -> Cluster:
    """One cluster."""
    return Cluster.of(service.cluster(session, principal, cluster_id))


@router.patch("/clusters/{cluster_id}", summary="Change a cluster", responses=errors(404, 409))
def change_cluster(principal: Admin, session: Tx, cluster_id: Id, body: ClusterPatch) -> Cluster:
    """Name and description; what is left out stays."""
    changes = body.model_dump(exclude_unset=True)
    return Cluster.of(service.change_cluster(session, principal, cluster_id, changes))
