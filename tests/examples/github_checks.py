"""Check runs as GitHub keeps them: annotations are only ever added, fifty at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from github_repository import NAME, Json, RefusedError, stamp

if TYPE_CHECKING:
    from github_repository import Clock


class CheckRunStore:
    """The check runs of one repository, whoever made them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.runs: list[Json] = []
        self.annotations: dict[int, list[Json]] = {}
        self.may_write = True

    def create(self, body: Json, base: str) -> Json:
        self._require_write()
        run = {
            "id": 5_000 + len(self.runs),
            "name": body["name"],
            "head_sha": body["head_sha"],
            "external_id": body.get("external_id", ""),
            "details_url": body.get("details_url"),
            "status": "queued",
            "conclusion": None,
            "output": {"title": None, "summary": None, "text": None},
            "started_at": stamp(self._clock.now()),
        }
        self.runs.append(run)
        self.annotations[run["id"]] = []
        return self._changed(run, body, base)

    def edit(self, identity: int, body: Json, base: str) -> Json:
        self._require_write()
        return self._changed(self._run(identity), body, base)

    def of_commit(self, sha: str, query: dict[str, str], base: str) -> Json:
        found = [
            self.shown(run, base)
            for run in self.runs
            if run["head_sha"] == sha and query.get("check_name") in {None, run["name"]}
        ]
        return {"total_count": len(found), "check_runs": found}

    def annotations_of(self, identity: int) -> list[Json]:
        return [
            {
                "start_column": None,
                "end_column": None,
                "raw_details": None,
                "blob_href": f"https://github.com/{NAME}/blob/main/{one['path']}",
                **one,
            }
            for one in self.annotations[self._run(identity)["id"]]
        ]

    def shown(self, run: Json, base: str) -> Json:
        url = f"{base}/repos/{NAME}/check-runs/{run['id']}"
        count = len(self.annotations[run["id"]])
        done = run["status"] == "completed"
        return {
            **run,
            "node_id": f"CR_{run['id']}",
            "url": url,
            "html_url": f"https://github.com/{NAME}/runs/{run['id']}",
            "completed_at": stamp(self._clock.now()) if done else None,
            "check_suite": {"id": 1},
            "app": None,
            "pull_requests": [],
            "output": {
                **run["output"],
                "annotations_count": count,
                "annotations_url": f"{url}/annotations",
            },
        }

    def _changed(self, run: Json, body: Json, base: str) -> Json:
        if body.get("status") == "completed" and "conclusion" not in body:
            error = {"resource": "CheckRun", "field": "conclusion", "code": "missing_field"}
            raise RefusedError(422, "Validation Failed", (error,))
        output: dict[str, Any] = dict(body.get("output", {}))
        self.annotations[run["id"]] += output.pop("annotations", [])
        run["output"] |= output
        run |= {key: body[key] for key in ("status", "conclusion") if key in body}
        if run["status"] != "completed":
            run["conclusion"] = None
        return self.shown(run, base)

    def _run(self, identity: int) -> Json:
        for run in self.runs:
            if run["id"] == identity:
                return run
        raise RefusedError(404, "Not Found")

    def _require_write(self) -> None:
        if not self.may_write:
            raise RefusedError(403, "Resource not accessible by integration")
