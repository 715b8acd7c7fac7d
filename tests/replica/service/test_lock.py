"""One service runs in a directory, and whoever looks is told which."""

import os
from pathlib import Path

import pytest

from core.errors import Code, DmpError
from replica.service.lock import Holder, holder, serving

SINCE = "2026-11-30T12:00:00.000Z"


def test_it_says_who_serves_since_when_and_where_until_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "serve.lock"
    assert holder(path) is None
    with serving(path, SINCE) as listening:
        assert holder(path) == Holder(os.getpid(), SINCE, None)
        listening("http://127.0.0.1:7440")
        assert holder(path) == Holder(os.getpid(), SINCE, "http://127.0.0.1:7440")
    assert holder(path) is None
    assert not path.exists()


def test_a_second_one_is_refused_and_told_which_is_the_first(tmp_path: Path) -> None:
    path = tmp_path / "serve.lock"
    with serving(path, SINCE) as listening:
        listening("http://127.0.0.1:7440")
        with pytest.raises(DmpError) as refused, serving(path, SINCE):
            pass
    assert refused.value.code is Code.CONFLICT
    assert (
        f"process {os.getpid()}, at http://127.0.0.1:7440, serves {tmp_path} already" in refused.value.message
    )


@pytest.mark.parametrize("left", ["", "{", '{"pid": 1}', '{"pid": "x", "since": "", "url": null}', "[]"])
def test_what_a_killed_service_left_hinders_nobody_and_what_is_half_written_names_nobody(
    tmp_path: Path, left: str
) -> None:
    path = tmp_path / "serve.lock"
    path.write_text(left)
    assert holder(path) is None
    with serving(path, SINCE):
        path.write_text(left)
        assert holder(path) == Holder(0, "", None)
        with pytest.raises(DmpError, match="another process serves"), serving(path, SINCE):
            pass
