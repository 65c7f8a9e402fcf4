"""What every integration test may ask for."""
import pytest

from lab import Lab, find_nginx


@pytest.fixture
def lab():
    if not find_nginx():
        pytest.skip("nginx is not installed")
    with Lab() as made:
        yield made
