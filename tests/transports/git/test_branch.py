"""What is on the branch: what this project puts there, and what hostile hands can."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.transports.contract import read
from tests.transports.git.repo import FILE, LINK, MODULE, TREE, GitFarSide
from tests.transports.ops import ADA, BOB, CAL, Chain, seq
from transports.base import Refused
from transports.git import GitTransport, Limits

MIB = 1024 * 1024


def pushed(far: GitFarSide) -> tuple[bytes, bytes]:
    """Return the tip commit and its message."""
    commit = far.git("cat-file", "commit", far.tip())
    return commit, commit.split(b"\n\n", 1)[1]


# What is written


def test_the_first_publish_begins_a_branch_with_a_readme(far: GitFarSide, near: GitTransport) -> None:
    lines = Chain(ADA).lines(2)
    near.publish(ADA, lines, acks=b"acks\n")
    assert set(far.files()) == {"README.md", f"fed/{ADA}/000000000001.jsonl", f"fed/{ADA}/acks.json"}
    assert far.content(f"fed/{ADA}/000000000001.jsonl") == b"".join(line + b"\n" for line in lines)
    assert far.content(f"fed/{ADA}/acks.json") == b"acks\n"
    assert b"parent" not in pushed(far)[0]


def test_ops_and_acknowledgements_go_out_in_one_commit(far: GitFarSide, near: GitTransport) -> None:
    near.publish(ADA, (ada := Chain(ADA)).lines(1))
    before = far.tip()
    near.publish(ADA, ada.lines(3), acks=b"acks")
    commit, message = pushed(far)
    assert f"parent {before}\n".encode() in commit
    assert message == b"ada-0000000a: 3 signed ops\n"
    near.publish(ADA, [], acks=b"new")
    assert pushed(far)[1] == b"ada-0000000a: acks\n"


def test_a_commit_names_no_person_and_is_not_signed(
    far: GitFarSide, near: GitTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text(
        "[user]\nname = Ada L\nemail = ada@example.org\nsigningKey = x\n"
        "[commit]\ngpgSign = true\n[push]\ngpgSign = true\nfollowTags = true\n"
        "[gpg]\nprogram = /bin/false\n[transfer]\nfsckObjects = true\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada L")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "ada@example.org")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    near.publish(ADA, Chain(ADA).lines(1))
    commit, _ = pushed(far)
    assert commit.count(b"DMP sync <sync@dmp.invalid>") == 2
    assert commit.count(b" +0000\n") == 2
    assert b"gpgsig" not in commit


def test_a_replica_writes_under_its_own_name_alone(far: GitFarSide, near: GitTransport) -> None:
    blob = far.blob(b"anything")
    far.write(
        {BOB: (TREE, far.tree({"000000000001.jsonl": (FILE, blob)})), "notes": (FILE, blob)},
        docs=(TREE, far.tree({"link": (LINK, blob)})),
        sub=(MODULE, "1" * 40),
        run=("100755", blob),
    )
    before = far.files()
    near.refresh()
    near.publish(ADA, Chain(ADA).lines(1))
    assert far.files() == before | {
        f"fed/{ADA}/000000000001.jsonl": far.files()[f"fed/{ADA}/000000000001.jsonl"]
    }
    assert far.entries(far.tip())["run"] == ("100755", blob)
    assert far.entries(far.tip())["sub"] == (MODULE, "1" * 40)


def test_the_bytes_of_one_s_own_segments_are_kept(far: GitFarSide, near: GitTransport) -> None:
    ada = Chain(ADA)
    pretty = json.dumps(json.loads(ada.next()), indent=None, separators=(", ", ": ")).encode()
    far.put(ADA, b"junk", pretty)
    near.refresh()
    near.publish(ADA, [line := ada.next()])
    assert far.content(f"fed/{ADA}/000000000001.jsonl") == b"junk\n" + pretty + b"\n" + line + b"\n"


def test_a_torn_segment_of_one_s_own_is_not_continued(far: GitFarSide, near: GitTransport) -> None:
    ada = Chain(ADA)
    torn = b"\n".join(ada.lines(2))
    far.write({ADA: (TREE, far.tree({"000000000001.jsonl": (FILE, far.blob(torn))}))})
    near.refresh()
    near.publish(ADA, [line := ada.next()])
    assert far.content(f"fed/{ADA}/000000000001.jsonl") == torn
    assert far.content(f"fed/{ADA}/000000000003.jsonl") == line + b"\n"


@pytest.mark.parametrize("kind", ["fed is a file", "fed is a link", "lane is a file", "lane is a link"])
def test_what_stands_where_one_s_own_folder_goes_is_replaced(
    far: GitFarSide, near: GitTransport, kind: str
) -> None:
    mode = LINK if kind.endswith("link") else FILE
    blob = far.blob(b"../../../etc")
    if kind.startswith("fed"):
        far.write_root({"fed": (mode, blob)})
    else:
        far.write({ADA: (mode, blob)})
    near.refresh()
    near.publish(ADA, lines := Chain(ADA).lines(1))
    assert read(near) == {ADA: lines}


def test_a_link_with_a_segment_s_name_is_neither_followed_nor_written_through(
    far: GitFarSide, near: GitTransport
) -> None:
    link = far.blob(b"/etc/passwd")
    far.write({ADA: (TREE, far.tree({"000000000001.jsonl": (LINK, link), "acks.json": (LINK, link)}))})
    near.refresh()
    assert list(near.acks()) == []
    near.publish(ADA, lines := Chain(ADA).lines(1), acks=b"acks")
    assert read(near) == {ADA: lines}
    assert far.entries(f"{far.tip()}:fed/{ADA}") == {
        "000000000001.jsonl": (LINK, link),
        "000000000002.jsonl": (FILE, far.blob(lines[0] + b"\n")),
        "acks.json": (FILE, far.blob(b"acks")),
    }


def test_an_id_that_is_no_replica_s_is_not_published_under(near: GitTransport) -> None:
    for replica in ("..", "ada", "../x-0000000a", "ada-0000000A", f"{ADA}\n", ""):
        with pytest.raises(ValueError, match="replica id"):
            near.publish(replica, Chain(ADA).lines(1))


# What is read


def test_t3_foreign_files_links_and_submodules_are_passed_over(far: GitFarSide, near: GitTransport) -> None:
    lines = Chain(BOB).lines(2)
    good = far.blob(b"".join(line + b"\n" for line in lines))
    attributes = far.blob(b"* filter=evil\n*.jsonl -text working-tree-encoding=UTF-16\n")
    lane = {
        "000000000001.jsonl": (FILE, good),
        "000000000002.jsonl": (LINK, far.blob(b"000000000001.jsonl")),
        "000000000003.jsonl": (MODULE, "1" * 40),
        "000000000004.jsonl": (TREE, far.tree({"x": (FILE, good)})),
        ".gitattributes": (FILE, attributes),
        "extra.jsonl": (FILE, good),
    }
    far.write(
        {
            BOB: (TREE, far.tree(lane)),
            CAL: (LINK, far.blob(BOB.encode())),
            "dan-0000000d": (MODULE, "1" * 40),
            "eve-0000000e": (FILE, good),
            "..": (TREE, far.tree(lane)),
            "junk": (TREE, far.tree(lane)),
        },
        **{".gitmodules": (FILE, far.blob(b'[submodule "x"]\nurl = ext::sh -c id\npath = x\n'))},
    )
    near.refresh()
    assert read(near) == {BOB: lines}


def test_t3_nothing_on_the_branch_becomes_a_file_here(
    far: GitFarSide, near: GitTransport, tmp_path: Path
) -> None:
    hook = far.blob(b"#!/bin/sh\ntouch ran\n")
    far.write(
        {"..": (TREE, far.tree({"escape": (FILE, hook)})), ADA: (TREE, far.tree({"x": (FILE, hook)}))},
        hooks=(TREE, far.tree({"post-checkout": ("100755", hook)})),
        **{".git": (TREE, far.tree({"config": (FILE, hook)}))},
    )
    near.refresh()
    read(near)
    near.publish(BOB, Chain(BOB).lines(1))
    here = {path.name for path in (tmp_path / "near-1").rglob("*")}
    assert here.isdisjoint({"escape", "post-checkout", "README.md", BOB, "x", "ran"})
    assert not (tmp_path / "near-1" / "clone.git" / "hooks").exists()


def test_t3_a_huge_segment_is_skipped_and_the_rest_arrives(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path, limits=Limits(segment_bytes=10_000))
    ada, bob = Chain(ADA).lines(2), Chain(BOB).lines(2)
    far.put(ADA, ada[0])
    far.put(ADA, *[b"x" * 100] * 1000)
    far.put(ADA, ada[1])
    far.put(BOB, *bob)
    near = far.open()
    near.refresh()
    for _ in range(2):  # from the branch, then from what is remembered
        pull = near.pull({})
        assert sorted((line.replica, line.raw) for line in pull) == sorted(
            [(ADA, ada[0]), (ADA, ada[1]), (BOB, bob[0]), (BOB, bob[1])]
        )
        (note,) = pull.report.skipped
        assert (note.replica, note.place, note.line) == (ADA, f"fed/{ADA}/000000000002.jsonl", 0)
    near.close()


def test_acknowledgements_over_one_mebibyte_are_not_read(far: GitFarSide, near: GitTransport) -> None:
    far.write({ADA: (TREE, far.tree({"acks.json": (FILE, far.blob(b" " * (MIB + 1)))}))})
    near.refresh()
    assert list(near.acks()) == []


def test_t3_a_lane_of_too_many_files_is_skipped_and_the_rest_arrives(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path, limits=Limits(lane_bytes=4_000))
    blob = far.blob(b"{}\n")
    many = far.tree({f"{number:012d}.jsonl": (FILE, blob) for number in range(1000)})
    far.put(BOB, *(lines := Chain(BOB).lines(1)))
    far.write(far.entries_at("fed") | {ADA: (TREE, many)})
    near = far.open()
    near.refresh()
    pull = near.pull({})
    assert [line.raw for line in pull] == lines
    assert [(note.replica, note.place) for note in pull.report.skipped] == [(ADA, f"fed/{ADA}")]
    near.close()


def test_t3_among_too_many_folders_the_replicas_one_knows_are_still_read(tmp_path: Path) -> None:
    far = GitFarSide(tmp_path, limits=Limits(folder_bytes=4_000))
    far.put(BOB, *(lines := Chain(BOB).lines(2)))
    lane = far.entries_at("fed")[BOB]
    far.write({BOB: lane} | {f"x{number}-0000000f": lane for number in range(1000)})
    near = far.open()
    near.refresh()
    pull = near.pull({BOB: 2, CAL: 0})
    assert [line.raw for line in pull] == lines[1:]
    assert [note.place for note in pull.report.skipped] == ["fed"]
    assert list(near.lane(BOB, 2)) != []
    assert list(near.acks()) == []
    with pytest.raises(Refused):
        near.publish(ADA, Chain(ADA).lines(1))
    near.close()


# Rollback


def test_k3_a_branch_that_was_set_back_is_followed_and_shows_another_tip(
    far: GitFarSide, near: GitTransport
) -> None:
    ada = Chain(ADA)
    near.publish(ADA, first := ada.lines(1))
    before = near.refresh()
    near.publish(ADA, ada.lines(1))
    after = near.refresh()
    far.git("update-ref", f"refs/heads/{far.branch}", before)
    assert near.refresh() == before != after
    assert read(near) == {ADA: first}


def test_a_branch_that_was_deleted_is_empty_and_can_be_begun_again(
    far: GitFarSide, near: GitTransport
) -> None:
    near.publish(ADA, lines := Chain(ADA).lines(2))
    far.git("update-ref", "-d", f"refs/heads/{far.branch}")
    assert near.refresh() == ""
    assert read(near) == {}
    near.publish(ADA, lines)
    assert read(near) == {ADA: lines}


def test_other_limits_do_not_change_what_is_read(far: GitFarSide) -> None:
    near = far.open()
    far.limits = replace(far.limits, strangers=1)
    narrow = far.open()
    for name in (ADA, BOB, CAL):
        far.put(name, *Chain(name).lines(1))
    for transport in (near, narrow):
        transport.refresh()
        assert sorted(read(transport)) == [ADA, BOB, CAL]
        assert all(seq(raw) == 1 for (raw,) in read(transport).values())
        transport.close()


@pytest.mark.parametrize("had_fetched", [True, False])
def test_a_remote_that_is_a_shallow_copy_is_read_and_extended(far: GitFarSide, had_fetched: bool) -> None:
    lines = Chain(BOB).lines(3)
    far.put(BOB, lines[0])
    near = far.open()
    if had_fetched:
        near.refresh()
    far.put(BOB, lines[1])
    far.put(BOB, lines[2])
    (far.bare / "shallow").write_text(far.tip() + "\n")
    assert near.refresh() == far.tip()
    assert [line.raw for line in near.pull({})] == lines
    near.publish(ADA, Chain(ADA).lines(1))
    assert near.refresh() == far.tip()
    near.close()


@pytest.mark.parametrize("place", ["refs/a", "refs/heads", "refs/tags"])
def test_a_ref_whose_name_ends_in_the_branch_s_keeps_nobody_from_publishing(
    far: GitFarSide, near: GitTransport, place: str
) -> None:
    far.put(BOB, *Chain(BOB).lines(1))
    other = far.git("commit-tree", "-m", "by hand", far.tree({})).decode().strip()
    far.git("update-ref", f"{place}/refs/heads/{far.branch}", other)
    assert near.refresh() == far.tip()
    near.publish(ADA, Chain(ADA).lines(1))
    assert near.refresh() == far.tip()
