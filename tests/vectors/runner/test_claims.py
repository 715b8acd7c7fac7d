"""Which vectors a claim judges, what fails it, and what may be said of one that passes (12.1, 12.2, 12.6, 12.7)."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.vectors.runner.samples import hello, vector, vectors
from vectors.runner.attestation import Attestation, Deviation, read_attestation, read_deviations
from vectors.runner.claims import Claim, Rules, Status, Verdict, wording
from vectors.runner.document import UNTESTED
from vectors.runner.files import BadFile
from vectors.runner.running import Outcome, Result
from vectors.runner.vector import Vector

PERMANENT = ["wake", "tool-approval", "scope", "agent-registration", "overseer-action"]
ATTESTED = Attestation("263b9cfaf16a554bdfb166a7ba5b67716e946349", "HTTP+JSON", "MUST", "pass", ())

ENV, ENV_D, CORE, CORE_D, A2A, A2A_D, FED, FED_D = vectors(
    vector("env.sample.core"),
    vector("env.sample.dispatch", profile="dispatch"),
    vector("core.sample.core"),
    vector("core.sample.dispatch", profile="dispatch"),
    vector("a2a.sample.core"),
    vector("a2a.sample.dispatch", profile="dispatch"),
    vector("fed.sample.core"),
    vector("fed.sample.dispatch", profile="dispatch"),
)
DOCUMENTS = [ENV, ENV_D, CORE, CORE_D, A2A, A2A_D]
ALL = [*DOCUMENTS, FED, FED_D]


def rules(*claims: Claim, **changes: Any) -> Rules:
    return Rules(
        **{"claims": set(claims), "permanent_gate_types": PERMANENT, "attestation": ATTESTED, **changes}
    )


def verdicts(
    rules: Rules, outcomes: dict[str, Outcome] | None = None, vectors: Sequence[Vector] = ALL, **said: Any
) -> dict[str, Verdict]:
    """The verdicts where every vector passed but those listed, by id."""
    known = outcomes or {}
    results = [Result(each, known.get(each.id, Outcome.PASS)) for each in rules.judged(vectors)]
    return {each.claim: each for each in rules.verdicts(results, hello(**said))}


def status(rules: Rules, *args: Any, **said: Any) -> dict[str, Status]:
    return {claim: each.status for claim, each in verdicts(rules, *args, **said).items()}


@pytest.mark.parametrize(
    ("claims", "judged"),
    [
        ([Claim.ENVELOPE], [ENV]),
        ([Claim.CORE], [ENV, CORE]),
        ([Claim.DISPATCH_PROFILE], [ENV, ENV_D, CORE, CORE_D]),
        ([Claim.A2A_BINDING], [ENV, CORE, A2A]),
        ([Claim.ENVELOPE, Claim.CORE], [ENV, CORE]),
        ([Claim.A2A_BINDING, Claim.DISPATCH_PROFILE], DOCUMENTS),
        ([Claim.FEDERATION], [FED, FED_D]),
        ([*Claim], ALL),
    ],
)
def test_a_claim_judges_its_classes_and_profiles(claims: list[Claim], judged: list[Vector]) -> None:
    assert rules(*claims).judged(ALL) == judged


def test_every_claim_passes_when_every_vector_does() -> None:
    assert status(rules(*Claim)) == dict.fromkeys(Claim, Status.PASS)


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.SKIPPED, Outcome.ADAPTER_ERROR])
@pytest.mark.parametrize(
    ("failing", "claims"),
    [
        (ENV, {*Claim} - {Claim.FEDERATION}),
        (CORE, {Claim.CORE, Claim.DISPATCH_PROFILE, Claim.A2A_BINDING}),
        (ENV_D, {Claim.DISPATCH_PROFILE}),
        (CORE_D, {Claim.DISPATCH_PROFILE}),
        (A2A, {Claim.A2A_BINDING}),
        (A2A_D, {Claim.A2A_BINDING}),  # the union rule: it fails the binding, not the profile
        (FED, {Claim.FEDERATION}),
        (FED_D, {Claim.FEDERATION}),
    ],
)
def test_a_must_vector_that_does_not_pass_fails_every_claim_that_judges_it(
    failing: Vector, claims: set[Claim], outcome: Outcome
) -> None:
    more = [dataclasses.replace(each, id=f"{each.id}-2") for each in ALL]
    found = status(rules(*Claim), {failing.id: outcome}, [*ALL, *more])
    assert {claim for claim, each in found.items() if each is Status.FAIL} == claims


def test_a_must_vector_that_is_not_applicable_fails_nothing() -> None:
    more = dataclasses.replace(CORE, id="core.sample.more")
    assert status(rules(Claim.CORE), {more.id: Outcome.NOT_APPLICABLE}, [*ALL, more]) == {
        Claim.CORE: Status.PASS
    }


@pytest.mark.parametrize("level", ["SHOULD", "MAY"])
@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.SKIPPED, Outcome.ADAPTER_ERROR])
def test_no_other_level_fails_a_claim(level: str, outcome: Outcome) -> None:
    more = dataclasses.replace(CORE, id="core.sample.more", level=level)
    assert status(rules(Claim.CORE), {more.id: outcome}, [*ALL, more]) == {Claim.CORE: Status.PASS}


@pytest.mark.parametrize("claim", Claim)
def test_an_empty_kit_passes_no_claim(claim: Claim) -> None:
    assert status(rules(claim), None, []) == {claim: Status.FAIL}


@pytest.mark.parametrize("outcome", [Outcome.SKIPPED, Outcome.NOT_APPLICABLE, Outcome.ADAPTER_ERROR])
def test_a_claim_fails_when_no_vector_of_a_class_ran(outcome: Outcome) -> None:
    alone = dataclasses.replace(CORE, level="SHOULD")
    found = verdicts(rules(Claim.CORE), {alone.id: outcome}, [ENV, alone])[Claim.CORE]
    assert found.reasons == ["no vector of the class host-core ran"]


def test_a_vector_that_failed_has_run() -> None:
    alone = dataclasses.replace(CORE, level="SHOULD")
    assert status(rules(Claim.CORE), {alone.id: Outcome.FAIL}, [ENV, alone]) == {Claim.CORE: Status.PASS}


def test_a_dispatch_profile_claim_needs_a_dispatch_vector_that_ran() -> None:
    found = verdicts(rules(Claim.DISPATCH_PROFILE), None, [ENV, CORE])[Claim.DISPATCH_PROFILE]
    assert found.reasons == ["no vector of the profile dispatch ran"]


@pytest.mark.parametrize("missing", PERMANENT[1:])
def test_a_dispatch_profile_claim_needs_every_permanent_gate_type(missing: str) -> None:
    declared = [each for each in [*PERMANENT, "memory"] if each != missing]
    found = verdicts(rules(Claim.DISPATCH_PROFILE, Claim.CORE), gateTypes=declared)
    assert found[Claim.DISPATCH_PROFILE].reasons == [
        f"the adapter does not declare every permanent gate type: {missing}"
    ]
    assert found[Claim.CORE].status is Status.PASS


def test_the_classes_of_the_claims_come_in_the_order_of_reports() -> None:
    assert rules(Claim.A2A_BINDING, Claim.ENVELOPE).classes() == ["envelope", "host-core", "a2a-binding"]
    assert rules(Claim.ENVELOPE).classes() == ["envelope"]


# The A2A binding


def test_an_a2a_claim_needs_an_attested_run() -> None:
    found = verdicts(rules(Claim.A2A_BINDING, Claim.CORE, attestation=None))
    assert found[Claim.A2A_BINDING].status is Status.FAIL
    assert found[Claim.CORE].status is Status.PASS


def test_an_a2a_claim_may_be_judged_on_vectors_alone() -> None:
    alone = rules(Claim.A2A_BINDING, Claim.CORE, attestation=None, vectors_only=True)
    assert status(alone) == {Claim.CORE: Status.PASS, Claim.A2A_BINDING: Status.VECTORS_ONLY}
    assert status(alone, {A2A.id: Outcome.FAIL})[Claim.A2A_BINDING] is Status.FAIL


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"commit": "263b9cf"}, "the attested TCK run has the commit 263b9cf, and not 263b9cfaf"),
        ({"transport": "JSONRPC"}, "the attested TCK run has the transport JSONRPC, and not HTTP+JSON"),
        ({"level": "SHOULD"}, "the attested TCK run has the level SHOULD, and not MUST"),
        ({"result": "fail"}, "the attested TCK run has the result fail, and not pass"),
    ],
)
def test_an_attested_run_is_the_pinned_one_and_passed(change: dict[str, Any], told: str) -> None:
    attestation = dataclasses.replace(ATTESTED, **change)
    [reason] = verdicts(rules(Claim.A2A_BINDING, attestation=attestation))[Claim.A2A_BINDING].reasons
    assert reason.startswith(told)


def written(folder: Path, value: Any) -> Path:
    path = folder / "declared.json"
    path.write_text(json.dumps(value))
    return path


RUN = {"commit": "c", "transport": "t", "level": "l", "result": "r", "deviations": []}


def test_an_attestation_may_carry_the_two_declared_deviations(tmp_path: Path) -> None:
    both = ["bounded-blocking-wait", "application-json"]
    read = read_attestation(written(tmp_path, {**RUN, "deviations": both}))
    assert read == Attestation("c", "t", "l", "r", tuple(both))


@pytest.mark.parametrize(
    "value",
    [
        {**RUN, "deviations": ["refused-context"]},
        {**RUN, "deviations": "application-json"},
        {**RUN, "attested": True},
        {name: RUN[name] for name in RUN if name != "commit"},
        {**RUN, "result": True},
        [],
    ],
)
def test_any_other_attestation_is_refused(value: Any, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"declared\.json"):
        read_attestation(written(tmp_path, value))


@pytest.mark.parametrize("section", UNTESTED)
def test_a_deviation_from_what_no_vector_tests_may_be_declared(section: str, tmp_path: Path) -> None:
    path = written(tmp_path, [{"section": section, "summary": "not yet"}])
    assert read_deviations(path) == [Deviation(section, "not yet")]


@pytest.mark.parametrize(
    "value",
    [
        [{"section": "6.1", "summary": "x"}],
        [{"section": "13", "summary": "x"}],
        [{"section": "13.12", "summary": "x"}],
        [{"section": "9.3"}],
        [{"section": "9.3", "summary": ""}],
        [{"section": "9.3", "summary": "x", "why": "y"}],
        {"section": "9.3", "summary": "x"},
    ],
)
def test_any_other_deviation_is_refused(value: Any, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"declared\.json"):
        read_deviations(written(tmp_path, value))


# Wording


def test_what_passed_may_be_said_and_nothing_else() -> None:
    said = [Verdict(Claim.CORE, Status.PASS), Verdict(Claim.DISPATCH_PROFILE, Status.FAIL, ["x"])]
    assert wording(said, deviates=False) == "implements the Dispatch Messaging Protocol (DMP) 1.0 (Core)"
    every = [Verdict(claim, Status.PASS) for claim in Claim]
    assert wording(every, deviates=True) == (
        "implements the Dispatch Messaging Protocol (DMP) 1.0 (Envelope, Core, Dispatch profile, A2A binding) "
        "with declared deviations"
    )


def test_a_claim_that_the_document_reserves_is_never_quoted() -> None:
    assert wording([Verdict(Claim.FEDERATION, Status.PASS)], deviates=False) is None


def test_nothing_is_said_of_a_claim_that_failed_or_was_judged_on_vectors_alone() -> None:
    said = [Verdict(Claim.CORE, Status.FAIL, ["x"]), Verdict(Claim.A2A_BINDING, Status.VECTORS_ONLY)]
    assert wording(said, deviates=False) is None
