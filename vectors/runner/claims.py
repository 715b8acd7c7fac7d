"""Which vectors a claim judges, whether it passes, and how it may be worded (sections 12.1, 12.2, 12.7)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from vectors.runner.attestation import Attestation
from vectors.runner.document import CLAIMED_VERSION, FEDERATION
from vectors.runner.hello import Hello
from vectors.runner.running import Outcome, Result
from vectors.runner.vector import Vector

_RAN: Final = (Outcome.PASS, Outcome.FAIL)
_FAILING: Final = (Outcome.FAIL, Outcome.SKIPPED, Outcome.ADAPTER_ERROR)
"""How a MUST vector ends that fails every claim which judges it."""


class Claim(StrEnum):
    """A claim, by its name for the runner; in the order in which their names are quoted."""

    ENVELOPE = "envelope"
    CORE = "core"
    DISPATCH_PROFILE = "dispatch-profile"
    A2A_BINDING = "a2a-binding"
    FEDERATION = "federation"


_TITLES: Final = {
    Claim.ENVELOPE: "Envelope",
    Claim.CORE: "Core",
    Claim.DISPATCH_PROFILE: "Dispatch profile",
    Claim.A2A_BINDING: "A2A binding",
}
"""What passed claims are quoted as."""

EXPERIMENTAL: Final = (Claim.FEDERATION,)
"""Claims that the document reserves and does not make yet: they are judged, and never quoted (section 12.1)."""

_CLASSES: Final = {
    Claim.ENVELOPE: ("envelope",),
    Claim.CORE: ("envelope", "host-core"),
    Claim.DISPATCH_PROFILE: ("envelope", "host-core"),
    Claim.A2A_BINDING: ("envelope", "host-core", "a2a-binding"),
    Claim.FEDERATION: (FEDERATION,),
}
"""The classes that each claim judges."""


class Status(StrEnum):
    """What the report says of a claim."""

    PASS = "pass"
    FAIL = "fail"
    VECTORS_ONLY = "vectors-only"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One claim, what became of it, and why it failed."""

    claim: Claim
    status: Status
    reasons: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """What claims are judged by besides vectors.

    `claims` are all that this run judges, which the union rule needs; `permanent_gate_types` are those a
    Dispatch-profile claim declares. Without an `attestation`, an A2A binding claim fails unless it is judged
    on its vectors alone.
    """

    claims: Collection[Claim]
    permanent_gate_types: Collection[str]
    attestation: Attestation | None = None
    vectors_only: bool = False

    def judges(self, claim: Claim, vector: Vector) -> bool:
        """Whether a claim judges a vector."""
        if vector.vector_class not in _CLASSES[claim]:
            return False
        if vector.profile == "core" or claim in (Claim.DISPATCH_PROFILE, Claim.FEDERATION):
            return True
        # The union rule: beside a Dispatch-profile claim, the binding's dispatch-profile vectors count too.
        return (
            claim is Claim.A2A_BINDING
            and vector.vector_class == "a2a-binding"
            and Claim.DISPATCH_PROFILE in self.claims
        )

    def judged(self, vectors: Sequence[Vector]) -> list[Vector]:
        """Return the vectors that any claim judges."""
        return [each for each in vectors if any(self.judges(claim, each) for claim in self.claims)]

    def classes(self) -> list[str]:
        """Return the classes that any claim judges, in the order of reports."""
        return list(
            dict.fromkeys(name for claim in Claim if claim in self.claims for name in _CLASSES[claim])
        )

    def verdicts(self, results: Sequence[Result], hello: Hello) -> list[Verdict]:
        """Judge every claim."""
        return [self._verdict(claim, results, hello) for claim in Claim if claim in self.claims]

    def _verdict(self, claim: Claim, results: Sequence[Result], hello: Hello) -> Verdict:
        judged = [each for each in results if self.judges(claim, each.vector)]
        reasons = list(_faults(claim, judged))
        if claim is Claim.DISPATCH_PROFILE:
            reasons += self._profile_faults(judged, hello)
        if claim is Claim.A2A_BINDING and not self.vectors_only:
            reasons += self._attestation_faults()
        if reasons:
            return Verdict(claim, Status.FAIL, reasons)
        only = claim is Claim.A2A_BINDING and self.vectors_only
        return Verdict(claim, Status.VECTORS_ONLY if only else Status.PASS)

    def _profile_faults(self, judged: Sequence[Result], hello: Hello) -> Iterator[str]:
        if not any(each.outcome in _RAN and each.vector.profile == "dispatch" for each in judged):
            yield "no vector of the profile dispatch ran"
        missing = [each for each in self.permanent_gate_types if each not in hello.gate_types]
        if missing:
            yield f"the adapter does not declare every permanent gate type: {', '.join(missing)}"

    def _attestation_faults(self) -> Iterator[str]:
        if self.attestation is None:
            yield "it needs an attested run of the A2A TCK (--tck-attest), or --vectors-only"
        else:
            yield from self.attestation.faults()


def wording(verdicts: Sequence[Verdict], *, deviates: bool) -> str | None:
    """Return what an implementation may say of itself; None when no claim passed that may be quoted."""
    passed = [
        _TITLES[each.claim]
        for each in verdicts
        if each.status is Status.PASS and each.claim not in EXPERIMENTAL
    ]
    if not passed:
        return None
    with_deviations = " with declared deviations" if deviates else ""
    return (
        f"implements the Dispatch Messaging Protocol (DMP) {CLAIMED_VERSION} "
        f"({', '.join(passed)}){with_deviations}"
    )


def _faults(claim: Claim, judged: Sequence[Result]) -> Iterator[str]:
    failing = [each for each in judged if each.vector.level == "MUST" and each.outcome in _FAILING]
    if failing:
        yield f"{len(failing)} of its MUST vectors did not pass"
    for name in _CLASSES[claim]:
        if not any(each.outcome in _RAN and each.vector.vector_class == name for each in judged):
            yield f"no vector of the class {name} ran"
