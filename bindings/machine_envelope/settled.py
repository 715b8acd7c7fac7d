"""What the settings come to: the receiver that they describe."""

from collections.abc import Callable
from pathlib import Path

from bindings.machine_envelope.acquiring import Acquisition
from bindings.machine_envelope.did_key import read_did
from bindings.machine_envelope.extension import ACQUIRE_PATH, Params
from bindings.machine_envelope.keyfile import read_key
from bindings.machine_envelope.receiving import Receiver
from bindings.machine_envelope.verifying import Policy
from core.errors import invalid
from replica.host.config import EnvelopeConfig


def policy(root: Path, config: EnvelopeConfig) -> Policy:
    """What is required of envelopes. Raises DmpError for a setting that is missing or cannot be used."""
    for name, text in (("kind", config.kind), ("context_protocol", config.context_protocol)):
        if not text:
            raise invalid(f"machine_envelope.{name}", "this setting must not be empty")
    for each in config.issuers:
        read_did(each, "machine_envelope.issuers")
    if config.recipient:
        read_did(config.recipient, "machine_envelope.recipient")
    if config.recipient and config.issuers:
        recipient, issuers = config.recipient, frozenset(config.issuers)
    else:
        own = read_key(root).did
        recipient, issuers = config.recipient or own, frozenset(config.issuers) or frozenset((own,))
    return Policy(issuers, recipient, config.kind, config.context_protocol)


def receiver(root: Path, config: EnvelopeConfig) -> Callable[[str], Receiver]:
    """The receiver, for the URL that its card names. Raises DmpError as `policy`."""
    required = policy(root, config)
    issuer = read_key(root) if config.issue else None
    if issuer is not None and issuer.did not in required.issuers:
        raise invalid(
            "machine_envelope.issuers",
            "this host issues envelopes (machine_envelope.issue), so it must accept its own; add the did:key that "
            "`dmp envelope key show` shows",
        )

    def at(url: str) -> Receiver:
        params = Params(required.recipient, required.kind, required.context_protocol, f"{url}{ACQUIRE_PATH}")
        acquisition = Acquisition(params, required.issuers, issuer)
        return Receiver(required, acquisition, config.skills, config.most)

    return at
