"""docs/instance-routing.md says what there is. Its commands are typed with those of the other pages."""

import re
from pathlib import Path

from bindings.instance_routing import extension
from bindings.instance_routing.card import WAIT_SECONDS
from bindings.instance_routing.errors import Reason, Refused
from bindings.instance_routing.request import MAX_RAW_BYTES

PAGE = (Path(__file__).parents[3] / "docs" / "instance-routing.md").read_text()


def test_the_page_has_every_reason_with_its_status() -> None:
    told = {
        (name, int(status))
        for line in PAGE.splitlines()
        if re.match(r"\| [45]\d\d", line)
        for statuses, names, *_ in [line.strip("| ").split(" | ")]
        for name, status in zip(
            re.findall(r"`([A-Z_]+)`", names),
            statuses.split(", ") * (1 if ", " in statuses else 9),
            strict=False,
        )
    }
    assert told == {(str(each), Refused(each, "").status) for each in Reason}


def test_the_page_has_the_limits_and_ids() -> None:
    assert f"at most {extension.MAX_SUBJECT} characters" in PAGE
    assert f"{MAX_RAW_BYTES:,} of them" in PAGE
    assert f"waits for {WAIT_SECONDS} seconds" in PAGE
    assert extension.URI in PAGE
    for made in (extension.task_id(""), extension.context_id("")):
        assert f"`{made}`" in PAGE
    for member in (extension.RECIPIENT, extension.SUBJECT, extension.MODE, extension.BACKLOG):
        assert f"| `{member}` |" in PAGE
