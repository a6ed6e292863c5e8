"""torch: the PyTorch that an interpreter imports, unmodified."""

from slotfuzz.subject import interpreter
from slotfuzz.subject.capabilities import Capabilities

CAPABILITIES = Capabilities(
    module="torch", make=interpreter.make, names=("torch",), release_key="torch",
    is_installed=True, is_imported_slowly=True,
)
