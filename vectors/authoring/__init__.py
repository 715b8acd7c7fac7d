"""How the project's own vectors are written: `python -m vectors.authoring`.

What a vector expects is stated by hand, or computed here with other libraries than the implementation uses
(`rfc8785`, `hashlib`, `cryptography`, `pyhpke`), so that a mistake in the one shows in the other.
"""
