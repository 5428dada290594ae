import pytest
from factories.batch_site import BatchSite
from factories.site import Site


@pytest.fixture
def slurm(site: Site) -> BatchSite:
    """Two nodes that run benchmarks as Slurm jobs."""
    return BatchSite(site)
