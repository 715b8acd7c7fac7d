"""Every way in which a repository is served: the same lines arrive, and what goes wrong there is told."""

import datetime
import ipaddress
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.transports.contract import read
from tests.transports.git.repo import GitFarSide
from tests.transports.git.servers import NO_SSHD, SSHD, git_daemon, smart_http, sshd
from tests.transports.ops import ADA, BOB, Chain
from transports.base import Behind, Refused, TransportError, Unreachable
from transports.git import GitTransport
from transports.remotes import Source, parse_remote

Opener = Callable[[str], GitTransport]


@pytest.fixture
def opener(tmp_path: Path) -> Iterator[Opener]:
    """Opens transports to an address, each with a directory of its own."""
    with ExitStack() as stack:
        count = 0

        def open_(address: str) -> GitTransport:
            nonlocal count
            count += 1
            transport = GitTransport(parse_remote(address, Source.TYPED), tmp_path / f"near-{count}")
            stack.callback(transport.close)
            return transport

        yield open_


def tell(transport: GitTransport) -> TransportError:
    """What a refresh and a publish say that cannot be done."""
    try:
        transport.refresh()
        transport.publish(ADA, Chain(ADA).lines(1))
    except TransportError as error:
        return error
    raise AssertionError("all of it was done")


def lines_travel(open_: Opener, address: str) -> None:
    """Two replicas publish and read, one of them loses a race, and news is noticed."""
    near, other = open_(address), open_(address)
    ada, bob = Chain(ADA), Chain(BOB)
    assert near.refresh() == other.refresh() == ""
    near.publish(ADA, first := ada.lines(3, "x" * 1000), acks=b"acks")
    with pytest.raises(Behind):
        other.publish(BOB, late := bob.lines(1))
    assert other.watch(30)
    other.refresh()
    other.publish(BOB, late)
    near.refresh()
    near.publish(ADA, more := ada.lines(200, "y" * 10_000))  # more than git sends in one piece
    other.refresh()
    assert read(other) == {ADA: first + more, BOB: late}
    assert [line.raw for line in other.acks()] == [b"acks"]


def test_lines_travel_over_a_git_daemon(tmp_path: Path, far: GitFarSide, opener: Opener) -> None:
    assert far.bare.is_dir()
    with git_daemon(tmp_path) as address:
        lines_travel(opener, f"{address}/remote.git")


def test_a_git_daemon_that_only_reads_says_what_its_owner_enables(
    tmp_path: Path, far: GitFarSide, opener: Opener
) -> None:
    far.put(BOB, *(lines := Chain(BOB).lines(2)))
    with git_daemon(tmp_path, writable=False) as address:
        near = opener(f"{address}/remote.git")
        near.refresh()
        assert read(near) == {BOB: lines}
        assert "receive-pack" in tell(near).hint
    assert "network" in tell(near).hint


@pytest.fixture
def needs_sshd() -> None:
    if SSHD is None:
        pytest.fail(NO_SSHD)


@pytest.mark.usefixtures("needs_sshd")
def test_lines_travel_over_ssh_and_a_wrong_key_or_host_is_told(
    tmp_path: Path, far: GitFarSide, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sshd(tmp_path) as served:
        address = f"{served.address}{far.bare}"
        monkeypatch.setenv("GIT_SSH_COMMAND", served.command)
        lines_travel(opener, address)
        near = opener(address)
        for command, hint in (
            (served.without_key, "no credentials"),
            (served.with_another_host_key, "compare the host's key"),
        ):
            monkeypatch.setenv("GIT_SSH_COMMAND", command)
            assert hint in tell(near).hint
        monkeypatch.setenv("GIT_SSH_COMMAND", served.command)
        assert "exists" in tell(opener(f"{served.address}{tmp_path}/none.git")).hint
        near.refresh()
        assert len(read(near)[ADA]) == 203


@pytest.fixture
def over_http(far: GitFarSide) -> GitFarSide:
    far.git("config", "http.receivepack", "true")
    return far


def test_lines_travel_over_smart_http(tmp_path: Path, over_http: GitFarSide, opener: Opener) -> None:
    assert over_http.bare.is_dir()
    with smart_http(tmp_path) as served:
        lines_travel(opener, f"{served.address()}/remote.git")


def test_a_credential_that_expires_costs_nothing_and_is_never_shown(
    tmp_path: Path, over_http: GitFarSide, opener: Opener
) -> None:
    ada = Chain(ADA)
    with smart_http(tmp_path) as served:
        near = opener(f"{served.address()}/remote.git")
        near.refresh()
        near.publish(ADA, first := ada.lines(1))
        served.password = "token-2"
        waiting = ada.lines(1)
        for act in (near.refresh, lambda: near.publish(ADA, waiting)):
            with pytest.raises(Unreachable) as error:
                act()
            assert "credentials" in error.value.hint
            assert "token" not in error.value.message + error.value.hint
        again = opener(f"{served.address()}/remote.git")
        again.refresh()
        again.publish(ADA, waiting)
        assert read(again) == {ADA: first + waiting}
    assert over_http.tip()


@pytest.mark.parametrize(("status", "hint"), [(403, "credentials"), (404, "exists"), (503, "network")])
def test_a_host_that_answers_no_is_told_by_what_it_answers(
    tmp_path: Path, over_http: GitFarSide, opener: Opener, status: int, hint: str
) -> None:
    assert over_http.bare.is_dir()
    with smart_http(tmp_path) as served:
        served.refusing = status
        assert hint in tell(opener(f"{served.address()}/remote.git")).hint


def certificate(folder: Path) -> ssl.SSLContext:
    """Make a certificate for this machine, which is an authority of its own: `folder/authority.pem`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mail of a test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    (folder / "authority.pem").write_bytes(pem)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(private + pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context


def test_lines_travel_over_https_where_git_trusts_the_certificate(
    tmp_path: Path, over_http: GitFarSide, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert over_http.bare.is_dir()
    with smart_http(tmp_path, certificate(tmp_path)) as served:
        address = f"{served.address().replace('http:', 'https:')}/remote.git"
        assert "certificate" in tell(opener(address)).hint
        monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "authority.pem"))
        lines_travel(opener, address)


# What a repository may be


def test_a_branch_with_the_name_of_a_tag_is_the_branch(far: GitFarSide, opener: Opener) -> None:
    far.put(BOB, *(lines := Chain(BOB).lines(2)))
    far.git("tag", far.branch, far.tip())
    near = opener(str(far.bare))
    near.refresh()
    near.publish(ADA, mine := Chain(ADA).lines(1))
    assert read(near) == {ADA: mine, BOB: lines}
    assert far.tip() != far.git("rev-parse", f"refs/tags/{far.branch}").decode().strip()


def test_a_branch_below_this_one_s_name_is_told_and_not_raced_for(far: GitFarSide, opener: Opener) -> None:
    empty = far.tree({})
    commit = far.git("commit-tree", "-m", "x", empty).decode().strip()
    far.git("update-ref", f"refs/heads/{far.branch}/below", commit)
    error = tell(opener(str(far.bare)))
    assert isinstance(error, Refused)
    assert "`a/b`" in error.hint


@pytest.mark.parametrize("empty", [True, False])
def test_a_repository_of_sha_256_is_told(tmp_path: Path, opener: Opener, empty: bool) -> None:
    bare, work = tmp_path / "sha256.git", tmp_path / "work"
    for command in (
        ["git", "init", "-q", "--bare", "--object-format=sha256", str(bare)],
        ["git", "init", "-q", "--object-format=sha256", str(work)],
    ):
        subprocess.run(command, check=True)
    if not empty:
        person = ["-c", "user.name=x", "-c", "user.email=x"]
        commit = ["git", "-C", str(work), *person, "commit", "-q", "--allow-empty", "-m", "x"]
        subprocess.run(commit, check=True)
        push = ["git", "-C", str(work), "push", "-q", str(bare), "HEAD:refs/heads/dmp-federation"]
        subprocess.run(push, check=True)
    assert "SHA-1" in tell(opener(str(bare))).hint


def test_an_old_git_is_told(
    far: GitFarSide, opener: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git that does not know an option, as one from before 2.34 would not."""
    near = opener(str(far.bare))
    near.refresh()
    script = tmp_path / "old" / "git"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\necho "error: unknown option \\`no-write-fetch-head\'" >&2\nexit 129\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent), prepend=":")
    assert "2.34" in tell(near).hint


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Write a file until there is no more room."""
    filling = disk / "filling"
    with suppress(OSError), filling.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    return filling


def test_a_full_disk_of_the_host_costs_nothing(tmp_path: Path, small_disk: Path, opener: Opener) -> None:
    far = GitFarSide(small_disk)
    near = opener(str(far.bare))
    ada = Chain(ADA)
    near.refresh()
    near.publish(ADA, first := ada.lines(1))
    filling = fill(small_disk)
    waiting = ada.lines(100)
    with pytest.raises(Refused) as error:
        near.publish(ADA, waiting)
    assert "the remote cannot store" in error.value.hint
    filling.unlink()
    near.refresh()
    near.publish(ADA, waiting)
    assert read(near) == {ADA: first + waiting}
    assert tmp_path.is_dir()


def test_a_full_disk_of_this_machine_costs_nothing(far: GitFarSide, small_disk: Path) -> None:
    near = GitTransport(parse_remote(str(far.bare), Source.TYPED), small_disk / "near")
    near.refresh()
    near.publish(ADA, first := Chain(ADA).lines(1))
    filling = fill(small_disk)
    far.put(BOB, *(lines := Chain(BOB).lines(100)))
    with pytest.raises(Unreachable) as error:
        near.refresh()
    assert "this machine" in f"{error.value.message} {error.value.hint}"
    filling.unlink()
    near.refresh()
    assert read(near) == {ADA: first, BOB: lines}
    near.close()
