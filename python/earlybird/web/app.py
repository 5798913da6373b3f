"""The addresses of the page."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from earlybird.web.fields import ALL, FILES
from earlybird.web.guard import Guard
from earlybird.web.jobs import BusyError, Job, Jobs
from earlybird.web.page import View
from earlybird.web.requests import FieldError, checked_request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from starlette.datastructures import FormData
    from starlette.requests import Request

    from earlybird.web.answer import Answer

ASSETS: Final = Path(str(resources.files("earlybird.web"))) / "assets"
STYLE: Final = Path(str(resources.files("earlybird.report"))) / "assets" / "style.css"
GONE: Final = "This plan is no longer kept. Compute it again."
MOST_FILES: Final = 20
KINDS: Final = {"json": "application/json", "sh": "application/x-sh", "toml": "application/toml"}


def application(hosts: Sequence[str]) -> Starlette:
    """Return the application for a server that is called by one of these names."""
    pages = Pages()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(pages.jobs.close)

    return Starlette(
        routes=pages.routes(),
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=[*hosts], www_redirect=False),
            Middleware(Guard),
        ],
        lifespan=lifespan,
    )


class Pages:
    """The answers to requests."""

    def __init__(self) -> None:
        self.jobs = Jobs()

    def routes(self) -> list[Route | Mount]:
        """List the addresses."""
        return [
            Route("/", self.index),
            Route("/plans", self.add, methods=["POST"]),
            Route("/plans/{name}", self.show),
            Route("/plans/{name}/cancel", self.cancel, methods=["POST"]),
            Route("/plans/{name}/plan.svg", self.picture),
            Route("/plans/{name}/seen.mp4", self.film),
            Route("/plans/{name}/{file}", self.file),
            Route("/assets/style.css", self.style),
            Mount("/assets", StaticFiles(directory=ASSETS)),
        ]

    async def index(self, request: Request) -> Response:
        """Show the form, filled with the values of the address."""
        return HTMLResponse(View({name: text for name, text in request.query_params.items() if name in ALL}).page())

    async def add(self, request: Request) -> Response:
        """Begin a plan."""
        async with request.form(max_files=MOST_FILES, max_fields=2 * len(ALL)) as form:
            values = {name: _text(form, name) for name in ALL}
            replaced = self.jobs.get(str(form.get("replaces")))
            if replaced is not None:
                replaced.cancel()
            folder = Path(tempfile.mkdtemp(prefix="earlybird-web-"))
            try:
                job = await run_in_threadpool(self._begun, form, values, folder)
            except (FieldError, BusyError) as error:
                shutil.rmtree(folder)
                field, status = (error.field, 422) if isinstance(error, FieldError) else ("", 503)
                return _answer(request, View(values, {field: str(error)}), status)
            except BaseException:
                shutil.rmtree(folder)
                raise
        if "hx-request" not in request.headers:
            return RedirectResponse(f"/plans/{job.name}", 303)
        return _answer(request, self._view(job), headers={"HX-Push-Url": f"/plans/{job.name}"})

    def _begun(self, form: FormData, values: dict[str, str], folder: Path) -> Job:
        """Read what was sent, and begin a plan."""
        self.jobs.check_is_free()
        request = checked_request(values, _files(form, "clip"), _files(form, FILES), folder)
        job = Job(request, values, folder)
        self.jobs.add(job)
        return job

    async def show(self, request: Request) -> Response:
        """Show a plan: its progress, or the answer."""
        job = self.jobs.get(request.path_params["name"])
        view = View(errors={"": GONE}) if job is None else self._view(job)
        status = 404 if job is None else 200
        if "hx-request" not in request.headers:
            return HTMLResponse(view.page(), status)
        ended = job is None or job.is_ended
        headers = {"HX-Retarget": "#result", "HX-Reswap": "innerHTML"} if ended else {}
        return HTMLResponse(view.progress(), status, headers)

    async def cancel(self, request: Request) -> Response:
        """End a plan that is no longer wanted."""
        job = self.jobs.get(request.path_params["name"])
        if job is not None:
            job.cancel()
        return RedirectResponse(f"/plans/{request.path_params['name']}", 303)

    async def picture(self, request: Request) -> Response:
        """Return the picture of a plan, for a narrow or dark page too."""
        answer = self._answer_of(request)
        if answer is None:
            return Response(GONE, 404)
        is_narrow, is_dark = "narrow" in request.query_params, "dark" in request.query_params
        svg = await run_in_threadpool(answer.picture, is_narrow=is_narrow, is_dark=is_dark)
        return Response(svg, media_type="image/svg+xml")

    async def film(self, request: Request) -> Response:
        """Return the film as viewers see it, in parts too, which browsers ask for to seek."""
        answer = self._answer_of(request)
        path = answer.film.path if answer and answer.film else None
        return Response(GONE, 404) if path is None else FileResponse(path, media_type="video/mp4")

    async def file(self, request: Request) -> Response:
        """Return a file of a plan."""
        answer, name = self._answer_of(request), request.path_params["file"]
        if answer is None or name not in answer.files:
            return Response(GONE, 404)
        kind = KINDS[name.rpartition(".")[-1]]
        return Response(
            answer.files[name], media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )

    async def style(self, _: Request) -> Response:
        """Return the style of reports."""
        return FileResponse(STYLE)

    def _answer_of(self, request: Request) -> Answer | None:
        job = self.jobs.get(request.path_params["name"])
        return None if job is None else job.answer

    def _view(self, job: Job) -> View:
        return View(job.values, {"": job.error} if job.error else {}, job, self.jobs.ahead(job))


def _answer(request: Request, view: View, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer a form: with what changes, or with the whole page where there are no scripts."""
    text = view.form_answer() if "hx-request" in request.headers else view.page()
    return HTMLResponse(text, status, headers)


def _files(form: FormData, name: str) -> list[UploadFile]:
    """Return the files of a field; browsers send a nameless one where none was chosen."""
    return [file for file in form.getlist(name) if isinstance(file, UploadFile) and file.filename]


def _text(form: FormData, name: str) -> str:
    """Return the text of a field, or the names of its files."""
    text = form.get(name)
    return text if isinstance(text, str) else ", ".join(str(file.filename) for file in _files(form, name))
