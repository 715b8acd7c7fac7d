"""Tree objects are read and written as git has them, and names in them stay names."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transports.git.repo import GitFarSide
from tests.transports.ops import ADA
from transports.git.tree import Entry, Lane, MalformedTreeError, lane, lanes, parse_tree, replace, tree_bytes

OID = "0123456789abcdef0123456789abcdef01234567"


def entry(name: str, mode: str = "100644", oid: str = OID) -> Entry:
    return Entry(mode.encode(), name.encode(), oid)


def test_a_tree_is_read_and_written_in_git_s_order(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path)
    blob = far.blob(b"x")
    folder = far.tree({"x": ("100644", blob)})
    names = ["a", "a.b", "a0", "A", "b.c", "é", "with space", "z"]
    listing = "".join(f"100644 blob {blob}\t{name}\n" for name in names) + f"040000 tree {folder}\ta-\n"
    listing += f"040000 tree {folder}\tb\n"  # after b.c, since a folder counts as b/
    listing += f"040000 tree {folder}\tab\n120000 blob {blob}\tlink\n"
    oid = far.git("mktree", stdin=listing.encode()).decode().strip()
    data = far.git("cat-file", "tree", oid)
    assert tree_bytes(reversed(parse_tree(data))) == data


@given(st.binary(max_size=200))
@settings(max_examples=50)
def test_t3_any_bytes_are_a_tree_or_refused(data: bytes) -> None:
    try:
        entries = parse_tree(data)
    except MalformedTreeError:
        return
    assert sum(len(tree_bytes([entry])) for entry in entries) == len(data)


@pytest.mark.parametrize("mode", [b"", b"-1", b"0o7", b"1_0", b"8", b" 1", b"12345670"])
def test_a_mode_is_octal_digits(mode: bytes) -> None:
    with pytest.raises(MalformedTreeError):
        parse_tree(mode + b" name\0" + bytes(20))


def test_only_folders_of_replicas_are_lanes() -> None:
    entries = [
        entry(ADA, "40000"),
        entry("bob-0000000b", "100644"),
        entry("cal-0000000c", "120000"),
        entry("dan-0000000d", "160000"),
        entry("eve-0000000E", "40000"),
        entry("..", "40000"),
        entry("readme", "40000"),
        entry(f"{ADA}\n", "40000"),
        entry("é-0000000a", "40000"),
    ]
    assert lanes(entries) == {ADA: OID}


def test_only_plain_files_with_a_segment_s_name_are_segments() -> None:
    entries = [
        entry("000000000002.jsonl"),
        entry("000000000001.jsonl", "100755", "1" * 40),
        entry("000000000003.jsonl", "120000"),
        entry("000000000004.jsonl", "160000"),
        entry("000000000005.jsonl", "40000"),
        entry("00000000006.jsonl"),
        entry("000000000007.json"),
        entry("٠00000000008.jsonl"),
        entry("acks.json", "120000"),
    ]
    assert lane(entries) == Lane((("000000000001.jsonl", "1" * 40), ("000000000002.jsonl", OID)), None)
    assert lane([entry("acks.json")]) == Lane((), OID)


def test_an_entry_takes_the_place_of_all_that_have_its_name() -> None:
    others = [entry("fed"), entry("x"), entry("fed", "40000")]
    assert replace(others, entry("fed", "40000", "1" * 40)) == [entry("x"), entry("fed", "40000", "1" * 40)]
