"""What applying a teammate's mail costs beside its cryptography: `python -m tests.bench.mail`.

A ratio within one run on one disk: the mail ops of one teammate a second that a replica takes in, quotas off, from the
lines of a pull to messages that are stored, delivered, reported and announced; to those a second whose signature is
verified, whose content key is unwrapped and whose content is decrypted by bare calls of the libraries, with one commit
for each batch. The target is 0.35. Both take turns, so that a slow moment hits both. Nothing fails here.
"""

import argparse
import json
import os
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from nacl.bindings import crypto_sign_open

from core.store import Store
from crypto.encoding import unb64u
from replica.chain.apply import BATCH, Applier
from replica.chain.quotas import Quotas
from replica.chain.verify import Verifier
from replica.host.config import Config
from tests.bench.chain import signature_and_message
from tests.bench.send import send
from tests.replica.world import Machine, world

TARGET: Final = 0.35
OPS: Final = 10_000
ROUNDS: Final = 10
_SUITE: Final = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)


@dataclass(frozen=True, slots=True)
class Sealed:
    """What the bare calls are given of a mail op."""

    message: bytes
    public: bytes
    wrapped: bytes
    info: bytes
    nonce: bytes
    content: bytes
    aad: bytes

    @classmethod
    def of(cls, line: bytes, sender: Machine, recipient: Machine) -> "Sealed":
        op = json.loads(line)
        key = op["sealed"]["keys"][recipient.me]
        aad = f"dispatch-sealed-v1\n{sender.me}\n{op['seq']}\nmail".encode()
        return cls(
            signature_and_message(line),
            sender.node.identity.secrets.signer.public,
            unb64u(key["enc"]) + unb64u(key["ct"]),
            aad + b"\n" + recipient.me.encode(),
            unb64u(op["sealed"]["nonce"]),
            unb64u(op["sealed"]["ct"]),
            aad,
        )


def bare(ops: Sequence[Sealed], private: X25519PrivateKey, db: sqlite3.Connection) -> float:
    """Verify, unwrap and decrypt each op, and commit once a batch; the seconds it took."""
    start = time.perf_counter()
    for first in range(0, len(ops), BATCH):
        batch = ops[first : first + BATCH]
        for op in batch:
            crypto_sign_open(op.message, op.public)
            content_key = _SUITE.decrypt(op.wrapped, private, info=op.info)
            AESGCM(content_key).decrypt(op.nonce, op.content, op.aad)
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO batches VALUES (?)", (first,))
        db.execute("COMMIT")
    return time.perf_counter() - start


def applied(machine: Machine) -> tuple[float, int]:
    """Take in what teammates published; the seconds it took, and how many ops it were."""
    node = machine.node
    start = time.perf_counter()
    verifier = Verifier(node.store, node.me, node.reader)
    machine.transport.refresh()
    verified = verifier.verify(machine.transport.pull(verifier.marks()), node.wall())
    done = Applier(node).apply(verified)
    return time.perf_counter() - start, done.applied


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=int, default=OPS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with TemporaryDirectory() as folder, world(Path(folder)) as made:
        os.environ["XDG_STATE_HOME"] = folder
        ada, bob = made.team("ada", "bob")
        bob.node.host._config = Config(quotas=Quotas(None, None, None, None))
        bob.sync()
        aside = Store.open(
            Path(folder) / "bare.db", ("CREATE TABLE batches (first INTEGER NOT NULL) STRICT;",)
        )
        private = X25519PrivateKey.from_private_bytes(bob.node.identity.secrets.seal_private)
        count, ratios, alone, whole = options.ops // options.rounds, [], 0.0, 0.0
        for _ in range(options.rounds):
            before = len(ada.lane())
            send(ada, count)
            ada.sync()
            bob.clock.ms = ada.clock.ms
            ops = [Sealed.of(line, ada, bob) for line in ada.lane()[before:] if b'"type":"mail"' in line]
            seconds, applied_ops = applied(bob)
            assert applied_ops == len(ops) == count, (applied_ops, len(ops))
            without = bare(ops, private, aside.db)
            ratios.append(without / seconds)
            alone, whole = alone + without, whole + seconds
            bob.sync()  # which signs what it reports, as every pass does
        each = 1e6 / (count * options.rounds)
        print(f"apply {count * options.rounds:,} mail ops of one teammate, quotas off:")
        print(
            f"  verify, unwrap, decrypt and a commit a batch {alone * each:.0f} µs an op, all {whole * each:.0f} µs"
        )
        print(f"  ratio {median(ratios):.2f} (target {TARGET}), median of {options.rounds} rounds")
        aside.close()


if __name__ == "__main__":
    main()
