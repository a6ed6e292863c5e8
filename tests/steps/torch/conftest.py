"""Steps that need an installed PyTorch are skipped without one."""

import pytest

from slotfuzz.errors import UserError
from slotfuzz.subject import interpreter


@pytest.fixture
def torch_is_installed():
    """Skips if the system's Python has no PyTorch."""
    try:
        interpreter.probe(interpreter.SYSTEM_PYTHON, "torch")
    except UserError as error:
        pytest.skip(str(error))
