"""The contract bites: each transport that lies fails the test that names its lie."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.transports.liars import LIARS

ROOT = Path(__file__).parents[2]

CAUGHT = {
    "Drops": "test_t2_what_was_published_is_there_when_publish_returns",
    "StoresLater": "test_t2_what_was_published_is_there_when_publish_returns",
    "RollsBack": "test_k3_what_was_shown_once_is_shown_again",
    "BeginsFromNow": "test_t1_nothing_is_missed_that_was_published_while_a_reader_was_away",
    "MissesWhatCameInACut": "test_t1_nothing_is_missed_that_was_published_around_a_cut",
    "Reorders": "test_lines_of_a_lane_come_in_the_order_in_which_they_were_published",
    "ServesStubs": "test_k2_an_op_is_read_whole_by_those_it_is_for",
    "AcknowledgesEarly": "test_t1_nothing_is_acknowledged_but_by_the_word_of_a_replica",
    "PrunesEarly": "test_t1_nothing_is_acknowledged_but_by_the_word_of_a_replica",
    "TakesFromTwins": "test_r4_a_publish_on_an_old_view_of_its_own_lane_is_refused_whole",
    "Starves": "test_a_lane_that_nobody_takes_from_keeps_no_other_waiting_for_ever",
    "SaysNothing": "test_a_far_side_that_is_away_says_so_and_loses_nothing",
    "ShowsOldAcks": "test_acknowledgements_that_are_shown_are_the_last_ones_given",
}
LASTING = ("Drops", "BeginsFromNow", "Reorders", "ServesStubs", "AcknowledgesEarly")


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The tests that failed, by the name of the class of each liar."""
    report = tmp_path_factory.mktemp("liars") / "report.xml"
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "tests/transports/liars.py", "-q", "--tb=no"),
            *("-p", "no:xdist", "-p", "no:cacheprovider", f"--junitxml={report}"),
        ],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    found: dict[str, set[str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        tests = found.setdefault(case.attrib["classname"].rpartition(".Test")[2], set())
        if case.find("failure") is not None:
            tests.add(case.attrib["name"])
        assert case.find("error") is None, f"{case.attrib} did not come to its test"
        assert case.find("skipped") is None
    return found


def test_every_liar_has_a_test_that_names_its_lie() -> None:
    assert {liar.__name__ for liar in LIARS} == CAUGHT.keys()


@pytest.mark.parametrize("liar", CAUGHT)
def test_a_transport_that_lies_fails_by_name(failed: dict[str, set[str]], liar: str) -> None:
    assert CAUGHT[liar] in failed[liar]


@pytest.mark.parametrize("liar", LASTING)
def test_a_lie_does_not_pass_for_a_fault_that_ends(failed: dict[str, set[str]], liar: str) -> None:
    assert CAUGHT[liar] in failed[f"{liar}UnderFaults"]


def test_a_lie_about_one_thing_fails_few_tests_besides(failed: dict[str, set[str]]) -> None:
    broad = {"Drops", "StoresLater", "RollsBack", "BeginsFromNow"}
    assert {liar: failed[liar] for liar in CAUGHT.keys() - broad if len(failed[liar]) > 2} == {}
