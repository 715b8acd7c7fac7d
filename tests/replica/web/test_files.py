"""The page's files: whole, from this host alone, making no markup, with headers that keep a browser from all else."""

import re
from collections.abc import Iterator

import pytest

from replica.web.pages import FOLDER, POLICY, START, TYPES
from tests.replica.api.host import Host, served

SCRIPTS = sorted(FOLDER.glob("*.js"))
STYLES = sorted(FOLDER.glob("*.css"))
TEXTS = [*SCRIPTS, *STYLES, FOLDER / START]


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with served(tmp_path_factory.mktemp("ada")) as host:
        yield host


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_markup_or_code_of_text(path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]
    for means in (
        *(
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "setHTML",
            "document.write",
            "DOMParser",
            "Function(",
        ),
        *("createContextualFragment", "srcdoc", "eval(", "javascript:", 'setTimeout("', "importScripts"),
    ):
        assert means not in text, means


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_nothing_is_fetched_from_elsewhere(path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]
    assert re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text) == []
    assert "@import" not in text
    assert "url(" not in text


def test_the_page_has_no_script_or_style_of_its_own_in_it() -> None:
    text = (FOLDER / START).read_text()
    assert re.findall(r"<script(?![^>]* src=)", text) == []
    assert "<style" not in text
    assert re.findall(r"\s(?:on[a-z]+|style)=", text) == []


def test_every_file_that_is_named_is_served_and_every_file_is_named() -> None:
    named = {START, "icon.svg"}
    for path in TEXTS:
        text = path.read_text()
        named |= set(re.findall(r'from "\./([a-z-]+\.js)"', text)) | set(
            re.findall(r'"/web/([a-z.-]+)"', text)
        )
    assert named == {path.name for path in FOLDER.iterdir() if path.suffix in TYPES}


@pytest.mark.parametrize("path", ["/", "/web/main.js", "/web/style.css", "/web/icon.svg"])
def test_files_come_to_anybody_under_a_policy_that_lets_nothing_else_run(ada: Host, path: str) -> None:
    got = ada.stranger.get(path)
    assert got.status == 200
    assert got.header("Content-Security-Policy") == POLICY
    assert got.header("X-Content-Type-Options") == "nosniff"
    assert got.header("Referrer-Policy") == "no-referrer"
    assert got.header("Server") is None
    again = ada.stranger.get(path, {"If-None-Match": str(got.header("ETag"))})
    assert (again.status, again.raw) == (304, b"")
    assert again.header("Content-Security-Policy") == POLICY


def test_the_policy_lets_this_hosts_own_files_in_and_nothing_else() -> None:
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert rules == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' data:",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }


@pytest.mark.parametrize(
    "path", ["/web/", "/web/pages.py", "/web/../web/pages.py", "/web/%2e%2e/pages.py", "/web/x.js"]
)
def test_nothing_else_of_the_folder_or_of_the_machine_is_served(ada: Host, path: str) -> None:
    assert ada.stranger.get(path).status == 404


def test_data_is_never_kept_by_a_browser(ada: Host) -> None:
    for path in ("/api/mailbox", "/node/team", "/node/session"):
        got = ada.user().get(path)
        assert (got.status, got.header("Cache-Control")) == (200, "no-store")
