"""The JSON report of a run (section 12.4.8)."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from vectors.runner.attestation import Attestation, Deviation
from vectors.runner.claims import EXPERIMENTAL, Claim, Verdict
from vectors.runner.document import VERSION
from vectors.runner.hello import Hello
from vectors.runner.running import Outcome, Result
from vectors.runner.vector import JsonObject

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a run came to.

    `classes` are those the claims judge; `runner` names the program that judged; `moment` is when, in UTC.
    """

    hello: Hello
    verdicts: Sequence[Verdict]
    classes: Sequence[str]
    results: Sequence[Result]
    deviations: Sequence[Deviation]
    attestation: Attestation | None
    runner: str
    moment: datetime

    def to_json(self) -> JsonObject:
        """Return the document."""
        document: JsonObject = {
            "dmp": VERSION,
            "kit": VERSION,
            "implementation": {"name": self.hello.name, "version": self.hello.version},
            "claims": {str(each.claim): str(each.status) for each in self.verdicts},
            "classes": {name: self.counts(name) for name in self.classes},
            "vectors": [_vector(each) for each in self.results],
            "declaredDeviations": [asdict(each) for each in self.deviations],
            "runner": self.runner,
            "date": f"{self.moment:%Y-%m-%dT%H:%M:%S}.{self.moment.microsecond // 1000:03d}Z",
        }
        experimental = [str(each.claim) for each in self.verdicts if each.claim in EXPERIMENTAL]
        if experimental:
            document["experimental"] = experimental
        if self.attestation is not None and any(each.claim is Claim.A2A_BINDING for each in self.verdicts):
            document["a2a"] = _attested(self.attestation)
        return document

    def counts(self, vector_class: str) -> dict[str, int]:
        """Count the outcomes of a class. `fail` counts adapter errors and SHOULD vectors too; the latter are
        counted once more as `shouldFailures`.
        """
        results = [each for each in self.results if each.vector.vector_class == vector_class]
        failed = [each for each in results if each.outcome in (Outcome.FAIL, Outcome.ADAPTER_ERROR)]
        return {
            "pass": sum(each.outcome is Outcome.PASS for each in results),
            "fail": len(failed),
            "skipped": sum(each.outcome is Outcome.SKIPPED for each in results),
            "notApplicable": sum(each.outcome is Outcome.NOT_APPLICABLE for each in results),
            "shouldFailures": sum(each.vector.level == "SHOULD" for each in failed),
        }


def written(document: JsonObject) -> str:
    """Write a report for people and programs: indented, with letters as they are."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def _vector(result: Result) -> dict[str, Any]:
    return {
        "id": result.vector.id,
        "class": result.vector.vector_class,
        "level": result.vector.level,
        "profile": result.vector.profile,
        "outcome": str(result.outcome),
        "reasons": list(result.reasons),
    }


def _attested(attestation: Attestation) -> dict[str, Any]:
    return {
        "commit": attestation.commit,
        "transport": attestation.transport,
        "level": attestation.level,
        "result": attestation.result,
        "attested": True,
        "deviations": list(attestation.deviations),
    }
