"""`dmp audit proof` and `dmp audit check-proof`: showing to anybody that a key signed two histories."""

import sys
from pathlib import Path
from typing import Final

import click

from core.timestamp import timestamp
from crypto.canonical import JsonValue
from crypto.fork_proof import MAX_PROOF_BYTES, ForkProof, ProofError, read_proof
from crypto.op import Entry, to_line
from replica.audit.proofs import proofs_in
from replica.audit.report import Trouble
from replica.cli.audit_source import reading_of, source_options
from replica.cli.context import Cli, command, pass_cli
from replica.cli.failures import REFUSED, USAGE, Failure
from replica.cli.text import moment

_NOTHING: Final = "there is no proof of a fork there"


@command("proof")
@click.argument("replica", required=False)
@source_options
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write it there."
)
@pass_cli
def proof(
    cli: Cli, replica: str | None, source: str, branch: str, team: str | None, output: Path | None
) -> None:
    """Export what proves that the key of REPLICA signed two histories; without it, list whose keys did.

    The proof is a small file that anybody can check with `dmp audit check-proof`, without trusting who shows it. A
    replica keeps the proofs of all forks that it met, also when the ops are gone. It holds no sealed content.
    """
    screen = cli.screen
    with reading_of(cli, source, branch, team) as reading:
        if replica is None:
            kept = {each.replica for each in reading.source.record.proofs}
            every = proofs_in(reading, sorted({*reading.asked_for(None), *kept}))
            found = None
        else:
            kept_of = [each.replica for each in reading.source.record.proofs if each.replica == replica]
            (wanted,) = kept_of[:1] or reading.asked_for(replica)
            found, every = next(iter(proofs_in(reading, [wanted])), None), []
    if replica is None:
        if cli.as_json:
            screen.document({"proofs": [_summary(each) for each in every]})
        elif every:
            screen.table(("replica", "fingerprint", "op"), [_row(each) for each in every])
        else:
            screen.say("No key signed two histories, as far as this shows.")
        return
    if found is None:
        raise Failure("not-found", f"{_NOTHING}: the key of {wanted} signed one history", exit=REFUSED)
    _hand_out(cli, found, output)


def _hand_out(cli: Cli, found: ForkProof, output: Path | None) -> None:
    if output is not None:
        try:
            output.write_bytes(found.to_bytes() + b"\n")
        except OSError as error:
            raise Failure("refused", f"cannot write {output}: {error.strerror}") from error
    if cli.as_json:
        cli.screen.document(
            {**_summary(found), "file": None if output is None else str(output), "proof": _text(found)}
        )
    elif output is None:
        sys.stdout.buffer.write(found.to_bytes() + b"\n")
    else:
        cli.screen.say(f"Wrote {output}. Anybody can check it:")
        cli.screen.exact(f"  dmp audit check-proof {output}")


@command("check-proof")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@pass_cli
def check_proof(cli: Cli, file: Path) -> None:
    """Check what claims to prove that a key signed two histories.

    Needs nothing but the file, and believes nothing in it that is not signed. Exits 0 when it proves a fork, 1 when it
    does not, and 2 when it cannot be read.
    """
    try:
        found = read_proof(_read(file))
    except OSError as error:
        raise Failure("unreadable", f"cannot read {file}: {error.strerror}", exit=USAGE) from error
    except ProofError as error:
        raise Failure(
            "invalid", f"this proves nothing: it is {_worded(error)}", hint="ask for another copy of it"
        ) from error
    if cli.as_json:
        cli.screen.document({"proves": Trouble.FORK.value, **_summary(found)})
        return
    where = f"at seq {found.seq}" if found.same_seq else "after one op"
    cli.screen.say(
        f"It proves a fork: one key signed two different ops {where} for {found.replica}.",
        f"  fingerprint  {found.key.fingerprint}",
        *(
            f"  op {entry.seq}, {entry.type}, {moment(timestamp(entry.hlc.ms))}, {entry.hash}"
            for entry in found.entries
        ),
        "Whose key it is, the fingerprint tells: compare it with what `dmp team roster` shows, or with what its owner "
        "reads to you. Somebody has that key, or a copy of its machine signed as well; revoke it.",
    )


def _worded(error: ProofError) -> str:
    text = str(error)
    return text if text.startswith(("not ", "of ", "longer ", "two ", "the ")) else f"a proof {text}"


def _read(file: Path) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read(MAX_PROOF_BYTES + 1)
    with file.open("rb") as opened:
        return opened.read(MAX_PROOF_BYTES + 1)


def _row(found: ForkProof) -> tuple[str, ...]:
    return found.replica, found.key.fingerprint, str(found.seq)


def _text(found: ForkProof) -> str:
    return found.to_bytes().decode()


def _summary(found: ForkProof) -> dict[str, JsonValue]:
    return {
        "replica": found.replica,
        "fingerprint": found.key.fingerprint,
        "seq": found.seq,
        "sameSeq": found.same_seq,
        "ops": [_entry_json(each) for each in found.entries],
    }


def _entry_json(entry: Entry) -> dict[str, JsonValue]:
    return {
        "seq": entry.seq,
        "type": entry.type,
        "hlc": str(entry.hlc),
        "hash": entry.hash,
        "prev": entry.prev,
        "size": len(to_line(entry)),
    }
