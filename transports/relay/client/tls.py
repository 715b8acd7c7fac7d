"""Whom a relay has to prove itself to: this machine's authorities, or those that SSL_CERT_FILE names."""

import ssl


def trusted(url: str) -> ssl.SSLContext | bool:
    """What a connection to a wss or https address is checked with: certificate and host name, always."""
    return ssl.create_default_context() if url.startswith(("wss:", "https:")) else True
