"""Where Prometheus finds the metrics: beside the API for this machine alone, or at an address of their own."""

import asyncio
import sqlite3
from pathlib import Path

from aiohttp import hdrs, web
from prometheus_client import CONTENT_TYPE_LATEST

from core.errors import DmpError
from replica.api.errors import Refusal
from replica.api.guard import Guard
from replica.service.metrics import Metrics

PATH = "/metrics"


def add_metrics(app: web.Application, root: Path, metrics: Metrics) -> None:
    """Serve metrics beside what an application has, to who asks for them by a name of this machine.

    A proxy in front of it asks by another name, or says for whom it asks: what comes from elsewhere finds nothing.
    """
    guard = Guard(())

    async def show(request: web.Request) -> web.Response:
        try:
            guard.check(request)
        except Refusal:
            raise web.HTTPNotFound from None
        if any(each in request.headers for each in (hdrs.X_FORWARDED_FOR, hdrs.FORWARDED)):
            raise web.HTTPNotFound
        return await _answer(root, metrics)

    app.router.add_get(PATH, show, allow_head=False)


def metering(root: Path, metrics: Metrics) -> web.Application:
    """An application that has metrics alone, for whoever reaches it."""
    app = web.Application()

    async def show(_: web.Request) -> web.Response:
        return await _answer(root, metrics)

    app.router.add_get(PATH, show)
    return app


async def _answer(root: Path, metrics: Metrics) -> web.Response:
    try:
        text = await asyncio.to_thread(metrics.text, root)
    except (DmpError, sqlite3.Error):
        return web.Response(status=503, text="the store cannot be read\n")
    return web.Response(body=text, headers={hdrs.CONTENT_TYPE: CONTENT_TYPE_LATEST})
