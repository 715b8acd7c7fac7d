"""An address is opened by the transport its scheme names, whoever brings it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.transports.ops import ADA, Chain
from transports.base import TransportError
from transports.git import GitTransport
from transports.memory import MemoryTransport
from transports.opening import (
    Opening,
    directory_of,
    open_transport,
    read_address,
    scheme_of,
    schemes,
    typed_address,
)
from transports.remotes import RemoteError, Source


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("mail.git", "file"),
        ("./a:b", "file"),
        ("/srv/mail.git", "file"),
        ("FILE:///srv/mail.git", "file"),
        ("example.org:mail.git", "ssh"),
        ("ada@example.org:mail.git", "ssh"),
        ("ssh://example.org/mail.git", "ssh"),
        ("git:mail.git", "ssh"),
        ("git://example.org/mail.git", "git"),
        ("https://example.org/mail.git", "https"),
        ("memory:mail", "memory"),
        ("Memory:mail", "memory"),
        ("other:mail", "ssh"),
        ("other://mail", "other"),
    ],
)
def test_the_scheme_of_an_address_is_what_git_or_a_known_transport_takes_it_for(
    text: str, scheme: str
) -> None:
    assert scheme_of(text) == scheme


def test_a_path_is_kept_so_that_it_means_the_same_in_every_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_address("mail.git", Source.TYPED) == str(tmp_path / "mail.git")


def test_a_scheme_that_nobody_serves_is_named_with_those_that_are_served() -> None:
    with pytest.raises(RemoteError, match=r"no transport is installed for pigeon://loft; .*\bmemory\b"):
        read_address("pigeon://loft", Source.TYPED)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("htps://example.org/mail", "Did you mean https?"),
        ("dri:stick", "did you mean dir:? A repository on a host of that name is ssh://dri/~/stick"),
        ("dirs:stick", "did you mean dir:?"),
        ("memry:mail", "did you mean memory:?"),
        ("htps:/example.org/mail", "did you mean https://?"),
        (
            "https:/example.org/mail",
            "as in https://example.org/mail. A repository on a host of that name is ssh://",
        ),
        ("HTTPS:example.org/mail", "two slashes come after https:"),
        ("ssh:mail.git", "as in ssh://mail.git."),
        ("file:/srv/mail.git", "as in file:///srv/mail.git."),
        ("https://relay.example", "the address of a relay begins with wss://"),
        ("http://localhost:8080", "the address of a relay begins with ws://"),
        ("http://relay.example/dmp", "the address of a relay begins with wss://"),
    ],
)
def test_a_scheme_that_was_mistyped_is_told_with_the_one_that_was_meant(text: str, says: str) -> None:
    with pytest.raises(RemoteError) as error:
        typed_address(text)
    assert says in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "git:mail.git",
        "git2:mail.git",
        "loft:mail",
        "box:mail",
        "air:mail",
        "dirs.example.org:mail",
        "me@dirs:mail",
    ],
)
def test_a_host_with_a_name_of_its_own_is_a_host(text: str) -> None:
    assert typed_address(text) == text


def test_an_address_in_use_is_opened_whatever_a_new_one_would_be_told(tmp_path: Path) -> None:
    assert read_address("dirs:stick", Source.TYPED) == "dirs:stick"
    open_transport(Opening("dirs:stick", Source.TYPED, tmp_path)).close()


@pytest.mark.parametrize(
    ("text", "directory"),
    [
        ("dir:/srv/mail", "/srv/mail"),
        ("/srv/mail.git", "/srv/mail.git"),
        ("ssh://h/mail", None),
        ("h:mail", None),
    ],
)
def test_a_directory_of_this_machine_is_known_by_its_address(text: str, directory: str | None) -> None:
    assert directory_of(text) == (None if directory is None else Path(directory))


@pytest.mark.parametrize("text", ["memory:mail", "/srv/mail.git", "file:///srv/mail.git", "git://h/mail.git"])
def test_t4_an_address_that_somebody_else_named_leads_to_https_ssh_and_wss_alone(text: str) -> None:
    read_address(text, Source.TYPED)
    with pytest.raises(RemoteError, match="may only name an https, ssh or wss address"):
        read_address(text, Source.NAMED)
    with pytest.raises(RemoteError, match="may only name an https, ssh or wss address"):
        open_transport(Opening(text, Source.NAMED, Path("unused")))


@pytest.mark.parametrize("text", ["-u:mail", "ext::sh -c id", "memory:a\nb", " memory:a", ""])
def test_t4_options_helpers_and_odd_text_are_addresses_of_no_kind(text: str) -> None:
    with pytest.raises(RemoteError):
        read_address(text, Source.TYPED)


def test_git_is_opened_by_a_path(tmp_path: Path) -> None:
    transport = open_transport(Opening(str(tmp_path / "far.git"), Source.TYPED, tmp_path / "near", "mail"))
    assert isinstance(transport, GitTransport)
    assert transport.url == str(tmp_path / "far.git")
    transport.close()


def test_two_transports_at_one_address_in_memory_meet(tmp_path: Path) -> None:
    near, other = (open_transport(Opening("memory:a-meeting", Source.TYPED, tmp_path)) for _ in range(2))
    assert isinstance(near, MemoryTransport)
    lines = Chain(ADA).lines(2)
    near.refresh()
    near.publish(ADA, lines)
    other.refresh()
    assert [line.raw for line in other.lane(ADA)] == lines


class Installed:
    """A folder on the import path in which packages with entry points can be put."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def package(self, name: str, source: str, **schemes: str) -> None:
        (self.folder / f"{name}.py").write_text(source)
        data = self.folder / f"{name}-1.0.dist-info"
        data.mkdir()
        (data / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{scheme} = {value}" for scheme, value in schemes.items()]
        (data / "entry_points.txt").write_text("\n".join(["[dmp.transports]", *lines, ""]))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    monkeypatch.syspath_prepend(tmp_path)
    return Installed(tmp_path)


LOFT = """
from transports.memory import MemoryRemote, MemoryTransport
from transports.opening import Kind
LOFT = Kind(lambda text, source: text.lower(), lambda opening: MemoryTransport(MemoryRemote(opening.address)))
"""


def test_anybody_s_transport_is_found_by_its_entry_point(installed: Installed, tmp_path: Path) -> None:
    installed.package("loft_one", LOFT, pigeon="loft_one:LOFT")
    assert "pigeon" in schemes()
    assert read_address("Pigeon:LOFT", Source.TYPED) == "pigeon:loft"
    assert open_transport(Opening("pigeon:LOFT", Source.TYPED, tmp_path)).url == "memory:pigeon:loft"
    del sys.modules["loft_one"]


def test_t4_an_installed_transport_is_not_reached_by_what_somebody_else_named(installed: Installed) -> None:
    installed.package("loft_two", LOFT, pigeon="loft_two:LOFT")
    with pytest.raises(RemoteError, match="may only name"):
        read_address("pigeon://loft", Source.NAMED)


def test_no_package_takes_over_a_scheme_of_ours(installed: Installed, tmp_path: Path) -> None:
    installed.package("a_loft", LOFT, memory="a_loft:LOFT", https="a_loft:LOFT")
    assert isinstance(open_transport(Opening("memory:x", Source.TYPED, tmp_path)), MemoryTransport)
    assert read_address("https://H/x.git", Source.TYPED) == "https://H/x.git"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise ImportError('no pigeons')", "ImportError: no pigeons"),
        ("LOFT = 1", "is no transports.opening.Kind"),
    ],
)
def test_a_transport_that_cannot_be_loaded_says_which_package_to_install_again(
    installed: Installed, source: str, reason: str
) -> None:
    installed.package("loft_broken", source, pigeon="loft_broken:LOFT")
    with pytest.raises(TransportError, match=reason) as error:
        read_address("pigeon:x", Source.TYPED)
    assert "loft_broken" in error.value.hint
    sys.modules.pop("loft_broken", None)


def test_nothing_but_the_contract_takes_pytest() -> None:
    """`transports.contract` is for those who test; whoever only uses a transport need not have it."""
    program = (
        "import pkgutil, sys, importlib, transports\n"
        "sys.modules['pytest'] = None\n"
        "for found in pkgutil.walk_packages(transports.__path__, 'transports.', onerror=lambda _: None):\n"
        "    if not found.name.startswith('transports.contract'): importlib.import_module(found.name)\n"
        "import replica.cli.main\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
