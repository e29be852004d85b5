"""A GitHub on the loopback interface: real HTTP, GitHub's rules, and faults on request."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import format_datetime
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from github_advisories import AdvisoryStore
from github_checks import CheckRunStore
from github_contract import operation_of, request_errors, response_errors
from github_pulls import CodeScanningStore, PullRequestStore
from github_repository import NAME, OTHER_ID, Clock, GitHubRepository, Json, RefusedError
from github_settings import SettingsStore

if TYPE_CHECKING:
    from types import TracebackType

    from github_git import GitDatabase

TOKEN = "ghs_0123456789abcdefghijklmnopqrstuvwxyz"
GRAPHQL = "/graphql"
_MOVED = re.compile(rf"/repositories/{OTHER_ID}(/issues/(\d+))")
_SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)


class Fault(Enum):
    """What can go wrong with a request; `is_late` where GitHub has carried it out all the same."""

    BAD_GATEWAY = (502, False)
    LATE_BAD_GATEWAY = (502, True)
    ERROR = (500, False)
    RESET = (0, False)
    LATE_RESET = (0, True)
    HALF_AN_ANSWER = (1, True)
    TIMEOUT = (2, True)
    SECONDARY_LIMIT = (403, False)
    TOO_MANY = (429, False)
    PRIMARY_LIMIT = (4030, False)

    @property
    def is_late(self) -> bool:
        return bool(self.value[1])


@dataclass(frozen=True)
class Request:
    """What was asked."""

    filer: str
    method: str
    path: str
    query: dict[str, str]
    body: Any
    authorization: str = field(repr=False)


Gate = Callable[[Request], Fault | None]


class GitHubServer:
    """Serves one repository at an address per filer."""

    def __init__(
        self,
        *,
        filers: tuple[str, ...] = ("one",),
        gate: Gate | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.clock = clock or Clock()
        self.repository = GitHubRepository(self.clock)
        self.checks = CheckRunStore(self.clock)
        self.database: GitDatabase | None = None
        """Objects and references, where a test has a repository of git."""
        self.advisories = AdvisoryStore(self.clock)
        self.pulls = PullRequestStore()
        self.code_scanning = CodeScanningStore()
        self.settings = SettingsStore()
        self.requests: list[Request] = []
        self.violations: list[str] = []
        self.gate: Gate = gate or (lambda _: None)
        self.reset_in_s = 1800
        self.page = 100
        self.sees_elsewhere = False
        """Whether the token may see the repository that issues are transferred to."""
        self._lock = threading.Lock()
        self._servers = {filer: _Listener(self, filer) for filer in filers}

    def address(self, filer: str = "one") -> str:
        host, port = self._servers[filer].server_address[:2]
        return f"http://{host!s}:{port}"

    def __enter__(self) -> Self:
        for server in self._servers.values():
            threading.Thread(
                target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
            ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self._servers.values():
            server.shutdown()
            server.server_close()

    def posts(self, path: str = f"/repos/{NAME}/issues") -> int:
        return sum(r.method == "POST" and r.path == path for r in self.requests)

    def answer(self, request: Request, base: str) -> tuple[int, Any]:
        """Carry out a request."""
        with self._lock:
            self.clock.sleep(0.25)
            if request.path == GRAPHQL:
                return self._queried(request)
            moved = _MOVED.fullmatch(request.path)
            name = operation_of(
                request.method, f"/repos/{NAME}{moved[1]}" if moved else request.path
            )
            if not name:
                self.violations.append(f"{request.method} {request.path} is not described")
                return 404, {"message": "Not Found", "documentation_url": "", "status": "404"}
            self.violations += request_errors(name, request.query, request.body)
            try:
                if request.authorization != f"token {TOKEN}":
                    raise RefusedError(401, "Bad credentials")  # noqa: TRY301 - as all others
                status, body = (
                    self._elsewhere(int(moved[2]), base)
                    if moved
                    else self._carried_out(request, base)
                )
            except RefusedError as refused:
                status, body = refused.status, refused.body
            self.violations += response_errors(name, status, body) if status != 401 else []
            return status, body

    def _queried(self, request: Request) -> tuple[int, Any]:
        """Answer the one query that is asked of the GraphQL endpoint."""
        if request.authorization != f"token {TOKEN}":
            return 401, {"message": "Bad credentials", "documentation_url": "", "status": "401"}
        if "".join(request.body["query"].split()) != "query{viewer{login}}":
            self.violations.append(f"not the query that is described: {request.body['query']}")
        return 200, {"data": {"viewer": {"login": self.repository.writer}}}

    def _elsewhere(self, number: int, base: str) -> tuple[int, Any]:
        """Answer for the repository that issues are transferred to."""
        if not self.sees_elsewhere:
            raise RefusedError(404, "Not Found")
        return 200, self.repository.get_moved_issue(number, base)

    def _carried_out(self, request: Request, base: str) -> tuple[int, Any]:
        rest = request.path.removeprefix(f"/repos/{NAME}")
        if rest == request.path:
            raise RefusedError(404, "Not Found")
        parts = rest.strip("/").split("/")
        if request.method == "GET":
            return 200, self._read(parts, request.query, base)
        if request.method == "DELETE":
            self.repository.delete_comment(int(parts[-1]))
            return 204, None
        if parts == ["code-scanning", "sarifs"]:
            return 202, self.code_scanning.upload(request.body, base)
        created = request.method == "POST"
        return 201 if created else 200, self._written(parts, request.body, base, created=created)

    def _read(self, parts: list[str], query: dict[str, str], base: str) -> Any:
        match parts:
            case ["issues", *rest]:
                return self._read_issues(rest, query, base)
            case ["labels", name]:
                return self.repository.get_label(unquote(name))
            case ["git", "ref", "pull", number, "head"]:
                return self.repository.pull_request_head(int(number), base)
            case [""] | ["actions" | "rules", *_]:
                return self._read_settings(parts, base)
            case _:
                return self._read_beside(parts, query, base)

    def _read_issues(self, parts: list[str], query: dict[str, str], base: str) -> Any:
        match parts:
            case []:
                return self.repository.list_issues(query, base)
            case [number]:
                return self.repository.get_issue(int(number), base)
            case [number, "comments"]:
                return self.repository.list_comments(int(number), query, base)
            case _:
                raise RefusedError(404, "Not Found")

    def _read_settings(self, parts: list[str], base: str) -> Any:
        match parts:
            case [""]:
                shown: Json = self.repository.shown_repository(base)
                return shown | self.settings.about(is_archived=self.repository.is_archived)
            case ["actions", "workflows"]:
                return self.settings.list_workflows(base)
            case ["actions", "runners"]:
                return self.settings.list_runners()
            case ["rules", "branches", branch]:
                return self.settings.rules_of(unquote(branch))
            case _:
                raise RefusedError(404, "Not Found")

    def _read_beside(self, parts: list[str], query: dict[str, str], base: str) -> Any:
        match parts:
            case ["commits", sha, "check-runs"]:
                return self.checks.of_commit(sha, query, base)
            case ["check-runs", identity, "annotations"]:
                return self.checks.annotations_of(int(identity))
            case ["security-advisories"]:
                return self.advisories.listed(base)
            case ["pulls"]:
                return self.pulls.listed(query)
            case _:
                raise RefusedError(404, "Not Found")

    def _written(  # noqa: PLR0911 - one operation each
        self, parts: list[str], body: Json, base: str, *, created: bool
    ) -> Any:
        repository = self.repository
        match created, parts:
            case True, ["issues"]:
                return repository.create_issue(body, base)
            case True, ["issues", number, "comments"]:
                return repository.create_comment(int(number), body, base)
            case _, ["git", *rest] if self.database is not None:
                return self.database.write(rest, body, base)
            case _, ["check-runs" | "security-advisories", *_]:
                return self._written_beside(parts, body, base)
            case True, ["labels"]:
                return repository.create_label(body)
            case False, ["issues", "comments", identity]:
                return repository.edit_comment(int(identity), body, base)
            case False, ["issues", number]:
                return repository.edit_issue(int(number), body, base)
            case _:
                raise RefusedError(404, "Not Found")

    def _written_beside(self, parts: list[str], body: Json, base: str) -> Any:
        checks, advisories = self.checks, self.advisories
        match parts:
            case ["check-runs"]:
                return checks.create(body, base)
            case ["check-runs", identity]:
                return checks.edit(int(identity), body, base)
            case ["security-advisories"]:
                return advisories.create(body, base)
            case ["security-advisories", ghsa_id]:
                return advisories.edit(ghsa_id, body, base)
            case _:
                raise RefusedError(404, "Not Found")


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, github: GitHubServer, filer: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.github = github
        self.filer = filer

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that did not wait for the answer."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    """Else every answer waits 40 ms for the client's acknowledgement of its headers."""

    @property
    def listener(self) -> _Listener:
        assert isinstance(self.server, _Listener)
        return self.server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        github = self.listener.github
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        request = Request(
            filer=self.listener.filer,
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query)),
            body=json.loads(self.rfile.read(length)) if length else None,
            authorization=self.headers.get("Authorization", ""),
        )
        github.requests.append(request)
        fault = github.gate(request)
        base = github.address(self.listener.filer)
        if fault is None or fault.is_late:
            status, body = github.answer(request, base)
            if fault is None:
                self._send(status, *self._paged(request, body, base))
                return
        self._fail(fault)

    def _fail(self, fault: Fault) -> None:
        github = self.listener.github
        kind = fault.value[0]
        if kind in {0, 1}:
            if kind:
                self.wfile.write(b"HTTP/1.1 201 Created\r\nContent-Length: 999\r\n\r\n{")
            self.close_connection = True
        elif kind == 2:
            self.close_connection = True
            self.connection.settimeout(3)
            self.rfile.read(1)  # until the client has had enough
        elif kind in {502, 500}:
            self._send(kind, "<html>Bad Gateway</html>", {})
        elif kind == 4030:
            reset = int(github.clock.now().timestamp()) + github.reset_in_s
            headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}
            self._send(403, {"message": "API rate limit exceeded for installation."}, headers)
        else:
            self._send(kind, {"message": _SECONDARY}, {"Retry-After": "7"})

    def _paged(self, request: Request, body: Any, base: str) -> tuple[Any, dict[str, str]]:
        if isinstance(body, dict) and "runners" in body:
            shown, headers = self._paged(request, body["runners"], base)
            return {**body, "runners": shown}, headers
        if not isinstance(body, list):
            return body, {}
        by_cursor = request.path.endswith("/security-advisories")
        key = "after" if by_cursor else "page"
        page = int(request.query.get(key, 1))
        size = min(self.listener.github.page, int(request.query.get("per_page", 30)))
        headers = {}
        if len(body) > page * size:
            kept = {**request.query, key: str(page + 1)}
            query = "&".join(f"{name}={re.sub(':', '%3A', value)}" for name, value in kept.items())
            headers["Link"] = f'<{base}{request.path}?{query}>; rel="next"'
        return body[(page - 1) * size : page * size], headers

    def _send(self, status: int, body: Json | list[Json] | str, headers: dict[str, str]) -> None:
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        content = b"" if status == 204 else content
        self.send_response(status)
        self.send_header(
            "Content-Type", "text/html" if isinstance(body, str) else "application/json"
        )
        self.send_header("Content-Length", str(len(content)))
        if status == 301 and isinstance(body, dict):
            self.send_header("Location", body["url"])
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Return the repository's time, not that of this machine."""
        del timestamp
        return format_datetime(self.listener.github.clock.now(), usegmt=True)
