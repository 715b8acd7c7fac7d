"""Fetching a URL that somebody else supplied, without becoming their way into this network (section 8.9).

Three checks stand one behind the other, since none of them is enough:

1. `check_url` looks at the text: `https:`, a host name that is no address, no user information.
2. The resolver refuses a name as soon as one of its addresses is not public. It is asked anew for every fetch.
3. The socket is made only for an address that is public, so that whatever a second look-up says counts, too.

No redirect is followed, nothing is decompressed, no proxy of the environment is used, and size and time are bounded.

A host that the operator named (`private`) is reached by `http:` too and wherever it is: for a network of one's own.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final

import aiohttp
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.helpers import is_ip_address
from yarl import URL

from core.errors import invalid

MAX_BYTES: Final = 256 * 1024
"""The longest body that is read."""

SECONDS: Final = 10.0
"""How long a fetch may take, from the look-up of the name to the last byte."""

MAX_URL: Final = 2048
"""Bytes of a URL that is fetched."""

_NOT_PUBLIC_4: Final[Mapping[IPv4Network, str]] = {
    IPv4Network(network): name
    for network, name in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved"),
        ("198.51.100.0/24", "reserved"),
        ("203.0.113.0/24", "reserved"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
}

_NOT_PUBLIC_6: Final[Mapping[IPv6Network, str]] = {
    IPv6Network(network): name
    for network, name in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "reserved"),
        ("3fff::/20", "reserved"),
    )
}

_GLOBAL_6: Final = IPv6Network("2000::/3")
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")


class UnreachableError(Exception):
    """A fetch that did not come to an answer; its text completes "The peer: <text>" and quotes nobody."""


class NotPublicError(UnreachableError):
    """A name that leads to an address which is not public, when it is looked up or when it is connected to."""


class TooLargeError(UnreachableError):
    """An answer that is longer than what is read."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A whole answer. `headers` are by lower-case names, the first of each."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def range_of(address: str) -> str | None:
    """Name the range for which an address is not public; None for a public one.

    An IPv6 address that stands for an IPv4 one (mapped, NAT64 or 6to4) is in the range of that.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, IPv6Address):
        inner = _inner(parsed)
        if inner is None:
            named = (name for network, name in _NOT_PUBLIC_6.items() if parsed in network)
            return next(named, None if parsed in _GLOBAL_6 else "reserved")
        parsed = inner
    return next((name for network, name in _NOT_PUBLIC_4.items() if parsed in network), None)


def _inner(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for."""
    if address in _MAPPED or address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _SIX_TO_FOUR:
        return IPv4Address(int(address) >> 80 & 0xFFFFFFFF)
    return None


def check_url(text: str, field: str, private: Collection[str] = ()) -> URL:
    """Read a URL that may be fetched. Raises DmpError `invalid` on `field`.

    `private` are hosts that the operator allows to be reached by `http:` and at addresses that are not public.
    """
    if not text.isascii() or not text.isprintable() or " " in text or len(text) > MAX_URL:
        raise invalid(field, f"a URL is at most {MAX_URL} printable ASCII characters without spaces")
    try:
        url = URL(text)
        port = url.port
    except ValueError:
        raise invalid(field, "this is not a URL") from None
    host = url.raw_host
    if url.scheme not in ("https", "http") or not host or not port:
        raise invalid(field, "a URL must be an absolute one of https:")
    if "@" in text.partition("//")[2].partition("/")[0]:
        raise invalid(field, "a URL must hold no user name and no password")
    if host in private:
        return url
    if url.scheme != "https":
        raise invalid(
            field, "a URL must be of https:; http: is for hosts that the setting a2a.private_hosts names"
        )
    if is_ip_address(host) or ":" in host or _ends_in_number(host):
        raise invalid(field, "a URL must name its host, not the host's address")
    return url


def origin(url: URL) -> str:
    """The scheme, host and port of a URL, as they are compared."""
    return str(url.origin())


@asynccontextmanager
async def opened(
    url: URL,
    private: Collection[str],
    *,
    method: str = hdrs.METH_GET,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    timeout: aiohttp.ClientTimeout | None = None,
    resolver: AbstractResolver | None = None,
) -> AsyncIterator[aiohttp.ClientResponse]:
    """Send one request to a URL that passed `check_url`, and give its answer, whose body is not read yet.

    Raises UnreachableError, also while the body is read in the block.
    """
    anywhere = url.raw_host in private
    found = resolver or aiohttp.ThreadedResolver()
    connector = aiohttp.TCPConnector(
        use_dns_cache=False,
        force_close=True,
        resolver=found if anywhere else PublicResolver(found),
        socket_factory=None if anywhere else _public_socket,
    )
    limits = timeout or aiohttp.ClientTimeout(total=SECONDS)
    asked = {hdrs.ACCEPT_ENCODING: "identity", **(headers or {})}
    try:
        async with (
            aiohttp.ClientSession(
                connector=connector,
                timeout=limits,
                trust_env=False,
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
            ) as session,
            session.request(
                method, url, headers=asked, data=body, allow_redirects=False, max_redirects=0
            ) as response,
        ):
            if response.headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity":
                raise UnreachableError("it answers in a compressed form that nobody asked for")
            yield response
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise _unreachable(error) from None


async def fetch(
    url: URL,
    private: Collection[str],
    *,
    method: str = hdrs.METH_GET,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    seconds: float = SECONDS,
    limit: int = MAX_BYTES,
    resolver: AbstractResolver | None = None,
) -> Fetched:
    """Fetch a URL that passed `check_url`, whole. A redirect is an answer as any other, with its status.

    Raises UnreachableError where no whole answer of at most `limit` bytes came within `seconds`.
    """
    try:
        async with (
            asyncio.timeout(seconds),
            opened(
                url,
                private,
                method=method,
                headers=headers,
                body=body,
                timeout=aiohttp.ClientTimeout(total=seconds),
                resolver=resolver,
            ) as response,
        ):
            found = bytearray()
            async for chunk in response.content.iter_any():
                found += chunk
                if len(found) > limit:
                    raise TooLargeError(f"it answers with more than {limit} bytes")
            names = {name.lower(): value for name, value in reversed([*response.headers.items()])}
            return Fetched(response.status, names, bytes(found))
    except TimeoutError:
        raise UnreachableError(f"no whole answer came within {seconds:g} s") from None


class PublicResolver(AbstractResolver):
    """Looks names up with another resolver, and refuses those that lead to any address which is not public."""

    def __init__(self, inner: AbstractResolver) -> None:
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Look a name up. Raises OSError where that fails, or where an address is not public."""
        found = await self._inner.resolve(host, port, family)
        for each in found:
            _refuse(each["host"])
        return found

    async def close(self) -> None:
        """Let go of the other resolver."""
        await self._inner.close()


class _NotPublic(OSError):  # noqa: N818 - what aiohttp passes on; nobody else sees it
    """An address that is not public."""


def _refuse(address: str) -> None:
    named = range_of(address)
    if named is not None:
        raise _NotPublic(f"its name leads to an address in a {named} range")


def _public_socket(
    info: tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]],
) -> socket.socket:
    """Make the socket for one address, right before it is connected to."""
    family, kind, protocol, _, address = info
    _refuse(str(address[0]))
    return socket.socket(family, kind, protocol)


def _ends_in_number(host: str) -> bool:
    """Whether a host is one that some resolvers read as an IPv4 address, such as 0x7f.1."""
    last = host.rstrip(".").rpartition(".")[2]
    return last.isdigit() or last.startswith("0x")


def _unreachable(error: BaseException) -> UnreachableError:
    """What went wrong, in words of this host alone."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, _NotPublic):
            return NotPublicError(str(seen))
        seen = getattr(seen, "os_error", None) or seen.__cause__
    match error:
        case aiohttp.ClientConnectorDNSError():
            return UnreachableError("its name cannot be looked up")
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return UnreachableError("its certificate is not valid")
        case aiohttp.ClientConnectorError():
            return UnreachableError("nobody answers at its address")
        case TimeoutError():
            return UnreachableError("it takes too long to answer")
        case _:
            return UnreachableError("its answer breaks off, or is no HTTP")
