"""URLs that others supply: what is fetched, from where, and how much of it (section 8.9)."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import IPv4Address, IPv4Network, IPv6Address

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from hypothesis import given
from hypothesis import strategies as st

from bindings.a2a.public_url import (
    MAX_BYTES,
    Fetched,
    NotPublicError,
    TooLargeError,
    UnreachableError,
    check_url,
    fetch,
    range_of,
)
from core.errors import DmpError

LOCAL = frozenset(("localhost",))
NAMED_BY_THE_SPECIFICATION = {
    "loopback": "127.0.0.0/8",
    "private": "10.0.0.0/8",
    "link-local": "169.254.0.0/16",
    "shared": "100.64.0.0/10",
    "multicast": "224.0.0.0/4",
    "unspecified": "0.0.0.0/32",
}


@pytest.mark.parametrize(
    "url",
    [
        "http://peer.example/card",
        "ftp://peer.example/card",
        "file:///etc/passwd",
        "//peer.example/card",
        "https:///card",
        "https://peer.example:0/card",
        "https://ada@peer.example/card",
        "https://ada:word@peer.example/card",
        "https://@peer.example/card",
        "https://8.8.8.8/card",
        "https://[2606:4700::1111]/card",
        "https://[::ffff:8.8.8.8]/card",
        "https://127.1/card",
        "https://0x7f.1/card",
        "https://2130706433/card",
        "https://0x7f000001/card",
        "https://017700000001./card",
        "https://peer.example/a card",
        "https://pe\u0435r.example/card",
        "https://peer.example/card\n",
        "https://peer.example/" + "x" * 2048,
        "https://peer.example:99999/card",
        "",
    ],
)
def test_a_url_that_is_not_public_by_its_text_is_refused(url: str) -> None:
    with pytest.raises(DmpError) as refused:
        check_url(url, "card")
    assert (refused.value.code, refused.value.field) == ("invalid", "card")


@pytest.mark.parametrize(
    "url", ["https://peer.example/card", "https://peer.example:8443/a?b=c", "HTTPS://P.example"]
)
def test_a_public_url_passes(url: str) -> None:
    assert check_url(url, "card").scheme == "https"


def test_a_host_that_the_operator_named_may_be_anywhere_and_no_other() -> None:
    private = frozenset(("192.168.0.7", "lan"))
    assert str(check_url("http://192.168.0.7:8080/card", "card", private)) == "http://192.168.0.7:8080/card"
    assert check_url("http://lan/card", "card", private).host == "lan"
    for url in (
        "http://lan.example/card",
        "http://192.168.0.8/card",
        "http://ada@lan/card",
        "ftp://lan/card",
    ):
        with pytest.raises(DmpError):
            check_url(url, "card", private)


@pytest.mark.parametrize(("name", "network"), NAMED_BY_THE_SPECIFICATION.items())
@given(data=st.data())
def test_no_address_of_a_named_range_is_public_in_any_of_its_forms(
    name: str, network: str, data: st.DataObject
) -> None:
    found = IPv4Network(network)
    address = IPv4Address(int(found[0]) + data.draw(st.integers(0, found.num_addresses - 1)))
    for form in _forms(address):
        assert range_of(form) == name, form


def _forms(address: IPv4Address) -> list[str]:
    number = int(address)
    return [
        str(address),
        str(IPv6Address(0xFFFF << 32 | number)),
        f"::ffff:{address}",
        str(IPv6Address(0x64FF9B << 96 | number)),
        str(IPv6Address(0x2002 << 112 | number << 80 | 1)),
    ]


@given(st.ip_addresses())
def test_no_address_is_public_that_the_standard_library_says_is_not(
    address: IPv4Address | IPv6Address,
) -> None:
    inner = None
    if isinstance(address, IPv6Address):
        nat64 = IPv4Address(int(address) & 0xFFFFFFFF) if int(address) >> 32 == 0x64FF9B << 64 else None
        inner = address.ipv4_mapped or address.sixtofour or nat64
    judged = inner or address
    public = judged.is_global and not judged.is_multicast and not judged.is_reserved
    if range_of(str(address)) is None:
        assert public


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "100.128.0.1"],
)
def test_public_addresses_are_public(address: str) -> None:
    assert range_of(address) is None


@pytest.mark.parametrize(
    "address",
    [
        "::",
        "::1",
        "fe80::1",
        "fe80::1%lo",
        "fc00::1",
        "fd12::1",
        "fec0::1",
        "ff02::1",
        "64:ff9b:1::1",
        "::7f00:1",
        "2001:db8::1",
        "2001::1",
        "no address",
        "127.1",
        "",
    ],
)
def test_other_addresses_are_not(address: str) -> None:
    assert range_of(address) is not None


class Names(AbstractResolver):
    """Answers look-ups from a script, one answer after the other; the last stays."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in answer
        ]

    async def close(self) -> None:
        pass


@asynccontextmanager
async def serving(answer: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[int]:
    """An HTTP server on this machine; its value is the port."""
    runner = web.AppRunner(_application(answer), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _application(answer: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.Application:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    return app


def fetched(
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]],
    *,
    private: frozenset[str] = LOCAL,
    names: Names | None = None,
    seconds: float = 10.0,
) -> Fetched:
    async def run() -> Fetched:
        async with serving(answer) as port:
            url = check_url(f"http://localhost:{port}/card", "card", LOCAL)
            return await fetch(url, private, resolver=names or Names(["127.0.0.1"]), seconds=seconds)

    return asyncio.run(run())


async def hello(_: web.Request) -> web.StreamResponse:
    return web.Response(text="hello", headers={"X-Card": "yes"})


async def never(_: web.Request) -> web.StreamResponse:
    raise AssertionError("nobody was to be connected to")


def test_what_a_named_host_answers_is_fetched() -> None:
    found = fetched(hello)
    assert (found.status, found.body, found.headers["x-card"]) == (200, b"hello", "yes")


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::ffff:127.0.0.1"], ["::1"]]
)
def test_a_name_with_any_address_that_is_not_public_is_refused_before_it_is_connected_to(
    addresses: list[str],
) -> None:
    with pytest.raises(NotPublicError, match="loopback"):
        fetched(never, private=frozenset(), names=Names(addresses))


def test_a_name_that_is_private_on_the_second_look_up_is_refused_when_it_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The resolver is told a public address; what is then connected to is another.
    async def run() -> None:
        import aiohappyeyeballs

        real = aiohappyeyeballs.start_connection

        async def elsewhere(addr_infos: list[tuple[object, ...]], **given: object) -> socket.socket:
            moved = [(*info[:4], ("127.0.0.1", *info[4][1:])) for info in addr_infos]  # type: ignore[index]
            return await real(addr_infos=moved, **given)  # type: ignore[arg-type]

        monkeypatch.setattr("aiohttp.connector.aiohappyeyeballs.start_connection", elsewhere)
        async with serving(never) as port:
            url = check_url(f"https://peer.example:{port}/card", "card")
            with pytest.raises(NotPublicError, match="loopback"):
                await fetch(url, (), resolver=Names(["8.8.8.8"]))

    asyncio.run(run())


def test_each_fetch_looks_the_name_up_anew() -> None:
    async def run() -> None:
        names = Names(["127.0.0.1"], ["10.0.0.1"])
        async with serving(hello) as port:
            url = check_url(f"http://localhost:{port}/card", "card", LOCAL)
            assert (await fetch(url, LOCAL, resolver=names)).status == 200
            with pytest.raises(NotPublicError, match="private"):
                await fetch(url, (), resolver=names)
        assert names.asked == 2

    asyncio.run(run())


def test_an_address_that_was_written_in_the_url_is_refused_even_where_its_text_was_not_checked() -> None:
    from yarl import URL

    async def run() -> None:
        async with serving(never) as port:
            with pytest.raises(NotPublicError, match="loopback"):
                await fetch(URL(f"http://127.0.0.1:{port}/"), ())

    asyncio.run(run())


def test_no_redirect_is_followed() -> None:
    async def away(request: web.Request) -> web.StreamResponse:
        assert request.path == "/card"
        raise web.HTTPFound("/other")

    assert fetched(away).status == 302


def test_no_more_than_the_bound_is_read() -> None:
    async def exact(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"x" * MAX_BYTES)

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)

    assert len(fetched(exact).body) == MAX_BYTES
    with pytest.raises(TooLargeError, match="262144 bytes"):
        fetched(endless)


def test_a_compressed_answer_is_not_read() -> None:
    async def bomb(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})

    with pytest.raises(UnreachableError, match="compressed"):
        fetched(bomb)


def test_an_answer_that_drips_in_is_given_up() -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x")
            await asyncio.sleep(0.01)

    with pytest.raises(UnreachableError, match=r"within 0\.3 s|too long"):
        fetched(drip, seconds=0.3)


def test_nobody_there_is_told_without_quoting_anybody() -> None:
    async def run() -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            url = check_url(f"http://localhost:{closed.getsockname()[1]}/", "card", LOCAL)
            with pytest.raises(UnreachableError, match="nobody answers at its address"):
                await fetch(url, LOCAL, resolver=Names(["127.0.0.1"]))

    asyncio.run(run())
