"""What planted hosts, teams and tests import that is not the project's, for processes that are forked with it.

To start an interpreter and to read all this takes far longer than a vector does. What is not named here is imported
by each process for itself.
"""

import gc
from contextlib import suppress
from importlib import import_module
from typing import Final

MODULES: Final = (
    "_pytest.junitxml",
    "_pytest.unittest",
    "aiohttp",
    "csv",
    "cryptography.hazmat.backends.openssl.backend",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.hazmat.primitives.ciphers.aead",
    "cryptography.hazmat.primitives.hpke",
    "decimal",
    "difflib",
    "encodings.utf_16_le",
    "git",
    "hypothesis",
    "importlib.metadata",
    "nacl.bindings",
    "pdb",
    "pyhpke",
    "pytest",
    "rfc8785",
    "sqlite3",
    "tenacity",
    "tomllib",
    "unittest.mock",
    "uuid",
    "zipfile",
)

for _name in MODULES:
    with suppress(ImportError):
        import_module(_name)
gc.freeze()  # a collection in a forked process would write to all of it, and so copy it
