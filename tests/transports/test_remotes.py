"""T4: which remotes and branches are used, by where their names came from."""

from pathlib import Path

import pytest

from transports.remotes import Remote, RemoteError, Source, check_branch, parse_remote, redact

BASE = Path("/home/ada")

ANYWHERE = [
    "https://example.org/team/mail.git",
    "https://example.org:8443/mail",
    "ssh://git@example.org/team/mail.git",
    "ssh://git@example.org:2222/~/mail",
    "ssh://[2001:db8::1]/mail",
    "git@example.org:team/mail.git",
    "example.org:mail",
    "[2001:db8::1]:mail",
]

TYPED_ONLY = [
    "/srv/mail.git",
    "mail.git",
    "./host:path",
    "../mail",
    "~/mail.git",
    "a folder/mail.git",
    "file:///srv/mail.git",
    "git://example.org/mail.git",
    "http://localhost:8080/mail.git",
    "http://127.0.0.1/mail.git",
    "http://[::1]:8080/mail.git",
    "https://ada:secret@example.org/mail.git",
    "https://token@example.org/mail.git",
]

NOWHERE = [
    "",
    " ",
    " /srv/mail.git",
    "/srv/mail.git\n",
    "/srv/\x00mail",
    "/srv/mail\u2028.git",
    "/srv/mail\udcff.git",
    "-",
    "--upload-pack=touch /tmp/x",
    "-oProxyCommand=x",
    "ext::sh -c 'touch /tmp/x'",
    "ext::https://example.org",
    "fd::17",
    "::x",
    "a+b::https://example.org/mail",
    "ftp://example.org/mail",
    "git+ssh://example.org/mail",
    "javascript://example.org/mail",
    "http://example.org/mail.git",
    "http://10.0.0.1/mail.git",
    "http://localhost.example.org/mail.git",
    "https:///mail.git",
    "https://example.org",
    "https://example.org/",
    "https://example.org/mail?x=1",
    "https://example.org/mail#x",
    "https://exa mple.org/mail",
    "https://example.org\\@evil.example/mail",
    "https://-example.org/mail",
    "https://example.org:port/mail",
    "https://example.org:99999/mail",
    "ssh://-oProxyCommand=touch%20x/mail",
    "ssh://%2DoProxyCommand=touch/mail",
    "ssh://-l@example.org/mail",
    "ssh://example.org",
    "file://example.org/mail",
    "-host:mail",
    "user@-host:mail",
    "host:-mail",
    "ho st:mail",
]


@pytest.mark.parametrize("text", ANYWHERE)
@pytest.mark.parametrize("source", Source)
def test_t4_https_and_ssh_are_used_wherever_they_are_named(text: str, source: Source) -> None:
    assert parse_remote(text, source, BASE) == Remote(text, "https:ssh", local=False)


@pytest.mark.parametrize("text", TYPED_ONLY)
def test_t4_what_a_person_typed_may_name_more(text: str) -> None:
    assert parse_remote(text, Source.TYPED, BASE).url
    with pytest.raises(RemoteError):
        parse_remote(text, Source.NAMED, BASE)


@pytest.mark.parametrize("text", NOWHERE)
@pytest.mark.parametrize("source", Source)
def test_t4_helpers_options_and_half_addresses_are_never_used(text: str, source: Source) -> None:
    with pytest.raises(RemoteError):
        parse_remote(text, source, BASE)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("mail.git", "/home/ada/mail.git"),
        ("./host:path", "/home/ada/host:path"),
        ("/srv/mail.git", "/srv/mail.git"),
        ("-".join(("a", "b")), "/home/ada/a-b"),
    ],
)
def test_a_path_becomes_absolute_so_that_it_is_no_option_and_no_other_address(text: str, url: str) -> None:
    assert parse_remote(text, Source.TYPED, BASE) == Remote(url, "file", local=True)


@pytest.mark.parametrize(
    ("text", "protocols"),
    [
        ("file:///srv/mail.git", "file"),
        ("http://localhost/mail", "http"),
        ("git://example.org/mail", "git:https:ssh"),
    ],
)
def test_t4_git_may_speak_no_other_protocol_than_the_address_needs(text: str, protocols: str) -> None:
    assert parse_remote(text, Source.TYPED).protocols == protocols


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://ada:secret@example.org/mail", "https://example.org/mail"),
        ("https://token@example.org/mail", "https://example.org/mail"),
        ("https://ada:s@cr@t@example.org/mail", "https://example.org/mail"),
        ("ssh://git:secret@example.org/mail", "ssh://git@example.org/mail"),
        ("ssh://git@example.org/mail", "ssh://git@example.org/mail"),
        ("git@example.org:mail", "git@example.org:mail"),
        ("at 'HTTPS://a:b@x/y' and https://c:d@z/", "at 'HTTPS://x/y' and https://z/"),
        ("https://example.org/a@b", "https://example.org/a@b"),
    ],
)
def test_credentials_in_an_address_are_never_shown(text: str, shown: str) -> None:
    assert redact(text) == shown


def test_a_refusal_shows_no_credentials() -> None:
    with pytest.raises(RemoteError) as refusal:
        parse_remote("https://ada:secret@example.org/mail?x=1", Source.TYPED)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("name", ["dmp-federation", "dispatch-sync", "team/mail", "a", "A.b_c-d/1"])
def test_ordinary_branch_names_are_used(name: str) -> None:
    assert check_branch(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-x",
        "--force",
        "a/-b",
        "/a",
        "a/",
        "a//b",
        ".a",
        "a/.b",
        "a..b",
        "a.",
        "a.lock",
        "a.lock/b",
        "a b",
        "a\nb",
        "a\n",
        "a:b",
        "+a",
        "a~1",
        "a^",
        "a@{1}",
        "@",
        "a*",
        "a\\b",
        "é",
        "refs/heads/a",
        "a" * 201,
    ],
)
def test_t4_a_branch_name_that_could_mean_anything_else_is_refused(name: str) -> None:
    with pytest.raises(RemoteError):
        check_branch(name)
