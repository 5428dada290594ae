import pytest
from scipy.stats import false_discovery_control

from iotide_server.statistics.discoveries import adjusted_p_values


def test_adjusted_p_values_are_those_of_scipy() -> None:
    p_values = [0.01, 0.8, 0.03, 0.02, 0.01, 1.0]
    assert adjusted_p_values(p_values) == pytest.approx(false_discovery_control(p_values))
    assert adjusted_p_values([]) == []
