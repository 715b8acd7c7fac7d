"""An audit as one page that stands by itself: the lanes, a row for each replica, every fault and its evidence.

Everything is in the file, and its policy lets it fetch nothing: what runs and how it looks is named by hash, so
nothing that others wrote can become either. The tables are there without any script; only the drawing needs one.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Final

from core.timestamp import timestamp
from replica.audit.drawing import Drawing
from replica.audit.evidence import Evidence
from replica.audit.report import ReplicaReport, Report

_HERE: Final = Path(__file__).parent / "page"
_WEB: Final = Path(__file__).parents[1] / "web"

_SHOWN_NOTES: Final = 500
"""Notes on the roster, and places that were passed over, that a page has; the JSON document has more of some."""


def page(report: Report, drawing: Drawing, made_ms: int) -> str:
    """The page, made at a time in milliseconds since 1970."""
    style = _text(_WEB / "lanes.css") + _text(_HERE / "report.css")
    script = _text(_WEB / "lanes.js") + _text(_HERE / "report.js")
    policy = (
        f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    name = "no team" if report.team is None else report.team.name
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Audit of {_shown(name)}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            f"<h1>Audit of {_shown(name)}</h1>",
            *_summary(report, made_ms),
            "<h2>Over time</h2>",
            '<div id="lanes"><noscript>The drawing needs a browser that runs scripts.</noscript></div>',
            '<div id="op" role="region" aria-label="The op that was opened" aria-live="polite" hidden></div>',
            "<h2>Replicas</h2>",
            '<div id="replicas">',
            *_table(_HEADER, (_row(each) for each in report.replicas)),
            "</div>",
            "<h2>Faults</h2>",
            *_faults(report),
            *_remarks(report),
            f'<script type="application/json" id="data">{_embedded(drawing)}</script>',
            f'<script type="module">{script}</script>',
            "</body>",
            "</html>",
            "",
        )
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _embedded(drawing: Drawing) -> str:
    """The data of the drawing as JSON that ends no element, whatever others wrote in it."""
    text = json.dumps(drawing.to_json(hashes=True), separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _shown(text: str) -> str:
    """Others' words for the page: no markup, and nothing that hides or turns what stands beside them."""
    return escape("".join(char if char.isprintable() else "\ufffd" for char in text))


_HEADER: Final = ("Replica", "Whose", "Status", "Fingerprint", "Ops", "Types", "From", "To", "Chain")


def _summary(report: Report, made_ms: int) -> Iterator[str]:
    team = report.team
    count = len(report.replicas) + report.unlisted.replicas
    faulty = len(report.faulty) + report.unlisted.faulty
    verdict = "Every chain verifies." if not faulty else f"{faulty} of {count} chains with a fault."
    yield f'<p class="verdict{" bad" if faulty else ""}">{verdict}</p>'
    founded = "No team was founded here: each key is only what its holder says."
    if team is not None:
        founded = f"Team <code>{_shown(team.id)}</code>, founded by <code>{_shown(team.founder)}</code>."
    yield f"<p>{founded} Read from {_shown(report.source)}, {_time(made_ms)}.</p>"
    yield '<p id="zone">Times in the tables are UTC.</p>'


@dataclass(frozen=True, slots=True)
class _At:
    """A cell with a time, in milliseconds since 1970; None where there is none."""

    ms: int | None


def _time(ms: int) -> str:
    """A time, in UTC until the script of the page shows it in the zone of whoever reads it."""
    return f"<time>{timestamp(ms)}</time>"


def _row(row: ReplicaReport) -> tuple[str | _At, ...]:
    types = ", ".join(f"{name} {count:,}" for name, count in sorted((row.types or {}).items()))
    stubs = f"; {row.stubs:,} of them stubs" if row.stubs else ""
    chain = "verified"
    if row.fault is not None:
        chain = row.fault.trouble.value + ("" if row.fault.seq is None else f" at {row.fault.seq}")
    return (
        row.replica,
        ", ".join(part for part in (row.handle, row.device) if part),
        row.status.value,
        row.fingerprint or "",
        f"{row.ops:,}",
        types + stubs,
        _At(None if row.first is None else row.first.ms),
        _At(None if row.last is None else row.last.ms),
        chain,
    )


def _faults(report: Report) -> Iterator[str]:
    if not report.faulty:
        yield "<p>None.</p>"
    for row in report.faulty:
        assert row.fault is not None
        yield f'<section class="fault"><h3>{_shown(row.replica)}: {row.fault.trouble.value}</h3>'
        yield f"<p>{_shown(row.fault.text)}</p>"
        if row.evidence:
            yield "<p>What is there:</p>"
            yield from _table(
                ("Op", "Type", "Hash", "Follows", "Form", "Signed", "Flaw"),
                (_evidence(each) for each in row.evidence),
            )
        if row.proof is not None:
            proof = _shown(row.proof.to_bytes().decode())
            yield "<details><summary>The proof, for <code>dmp audit check-proof</code></summary>"
            yield f"<pre>{proof}</pre></details>"
        yield "</section>"


def _evidence(evidence: Evidence) -> tuple[str, ...]:
    found = evidence.to_json()
    signed = {True: "yes", False: "no", None: "nobody can tell"}[evidence.signed]
    form = "stub" if found["stub"] else "op"
    named = (found["seq"], found["type"], found["hash"], found["prev"])
    return *("" if each is None else str(each) for each in named), form, signed, evidence.flaw or ""


def _remarks(report: Report) -> Iterator[str]:
    """What is worth knowing and is no fault."""
    said = [] if report.team is None else list(report.team.notes)
    for row in report.replicas:
        counts = (
            (row.past_cut, f"ops after its cut at seq {row.cut}, without effect"),
            (row.rival_keys if row.fingerprint else 0, "other keys announced for this id, without effect"),
            (row.repeated_count, "lines with a repeated key; of two values every reader takes the last"),
            (row.unlinked, "lines past its last op, without a link to it"),
            (row.junk, "lines passed over as no part of its chain"),
        )
        said += [f"{row.replica}: {count:,} {what}." for count, what in counts if count > 0]
    said += [
        f"{each.count:,} lines passed over as no op: {each.place}, from line {each.line} on ({each.reason})."
        for each in report.skipped
    ]
    if report.unlisted.replicas:
        left = report.unlisted
        said.append(
            f"{left.replicas:,} more replicas outside the roster: {left.ops:,} ops, {left.faulty:,} faults."
        )
    if said:
        yield "<h2>Remarks</h2><ul>"
        yield from (f"<li>{_shown(each)}</li>" for each in said[:_SHOWN_NOTES])
        yield "</ul>"


def _cell(cell: str | _At) -> str:
    if isinstance(cell, _At):
        return "" if cell.ms is None else _time(cell.ms)
    return _shown(cell)


def _table(header: Iterable[str], rows: Iterable[Iterable[str | _At]]) -> Iterator[str]:
    yield '<div class="scroll"><table><thead><tr>'
    yield "".join(f'<th scope="col">{name}</th>' for name in header)
    yield "</tr></thead><tbody>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>"
    yield "</tbody></table></div>"
