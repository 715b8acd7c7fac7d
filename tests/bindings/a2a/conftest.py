"""A desk for each test that wants one."""

from tests.bindings.a2a.exchange.conftest import desk

__all__ = ["desk"]
