import pytest
from factories.batch_site import BatchSite
from factories.site import Site


@pytest.fixture
def slurm(site: Site) -> BatchSite:
    """Two nodes whose runs are jobs of Slurm."""
    return BatchSite(site)
