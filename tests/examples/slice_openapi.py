"""Cut from GitHub's OpenAPI description what the tracker's tests need: `github_openapi.json`.

Run by hand where another operation is needed, with the npm package `@octokit/openapi` (MIT):

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
    python tests/examples/slice_openapi.py package

Descriptions and examples are left out, and `nullable` becomes a type of JSON Schema.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ISSUES = "/repos/{owner}/{repo}/issues"
REPOSITORY = "/repos/{owner}/{repo}"
ADVISORIES = "/repos/{owner}/{repo}/security-advisories"
OPERATIONS = {
    REPOSITORY: ("get",),
    f"{REPOSITORY}/actions/runners": ("get",),
    f"{REPOSITORY}/actions/workflows": ("get",),
    f"{REPOSITORY}/rules/branches/{{branch}}": ("get",),
    ISSUES: ("get", "post"),
    f"{ISSUES}/{{issue_number}}": ("get", "patch"),
    f"{ISSUES}/{{issue_number}}/comments": ("get", "post"),
    f"{ISSUES}/comments/{{comment_id}}": ("delete", "patch"),
    "/repos/{owner}/{repo}/check-runs": ("post",),
    "/repos/{owner}/{repo}/check-runs/{check_run_id}": ("patch",),
    "/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations": ("get",),
    "/repos/{owner}/{repo}/commits/{ref}/check-runs": ("get",),
    "/repos/{owner}/{repo}/git/blobs": ("post",),
    "/repos/{owner}/{repo}/git/commits": ("post",),
    "/repos/{owner}/{repo}/git/ref/{ref}": ("get",),
    "/repos/{owner}/{repo}/git/refs": ("post",),
    "/repos/{owner}/{repo}/git/refs/{ref}": ("patch",),
    "/repos/{owner}/{repo}/git/trees": ("post",),
    "/repos/{owner}/{repo}/code-scanning/sarifs": ("post",),
    "/repos/{owner}/{repo}/pulls": ("get",),
    "/repos/{owner}/{repo}/labels": ("post",),
    "/repos/{owner}/{repo}/labels/{name}": ("get",),
    ADVISORIES: ("get", "post"),
    f"{ADVISORIES}/{{ghsa_id}}": ("patch",),
}
PROSE = {"description", "summary", "title", "example", "examples", "externalDocs", "deprecated"}
HERE = Path(__file__).parent


class Slice:
    """The part of a description that some operations need."""

    def __init__(self, described: dict[str, Any]) -> None:
        self._described = described
        self.schemas: dict[str, Any] = {}

    def operation(self, path: str, method: str) -> dict[str, Any]:
        """Return query parameters, request body and responses by status, as JSON schemas."""
        item = self._described["paths"][path]
        stated = item[method]
        parameters = [self._resolved(p) for p in stated.get("parameters", ())]
        request = stated.get("requestBody", {})
        return {
            "query": {
                p["name"]: self._schema(p["schema"]) for p in parameters if p["in"] == "query"
            },
            "request": self._body(request),
            "responses": {
                status: self._body(self._resolved(answer))
                for status, answer in stated["responses"].items()
            },
        }

    def _resolved(self, node: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in node:
            return node
        found: Any = self._described
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        resolved: dict[str, Any] = found
        return resolved

    def _body(self, described: dict[str, Any]) -> dict[str, Any] | None:
        content = described.get("content", {}).get("application/json")
        return None if content is None else self._schema(content["schema"])

    def _schema(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._schema(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return {"$ref": f"#/schemas/{self._kept(node)}"}
        return _nullable({k: self._member(k, v) for k, v in node.items() if not _is_prose(k)})

    def _member(self, key: str, value: Any) -> Any:
        if key == "properties":
            return {name: self._schema(schema) for name, schema in value.items()}
        return self._schema(value)

    def _kept(self, reference: dict[str, Any]) -> str:
        name: str = reference["$ref"].rpartition("/")[2]
        if name not in self.schemas:
            self.schemas[name] = {}  # schemas refer to themselves
            self.schemas[name] = self._schema(self._resolved(reference))
        return name


def _is_prose(key: str) -> bool:
    return key in PROSE or key.startswith("x-")


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if not schema.pop("nullable", False):
        return schema
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def main(package: Path) -> None:
    """Write the slice beside this file."""
    described = json.loads((package / "generated" / "api.github.com.json").read_text("utf-8"))
    about = json.loads((package / "package.json").read_text("utf-8"))
    cut = Slice(described)
    operations = {
        f"{method.upper()} {path}": cut.operation(path, method)
        for path, methods in OPERATIONS.items()
        for method in methods
    }
    text = json.dumps(
        {
            "source": f"{about['name']} {about['version']}",
            "license": (package / "LICENSE").read_text("utf-8"),
            "operations": operations,
            "schemas": cut.schemas,
        },
        sort_keys=True,
        separators=(",", ":"),
    )
    (HERE / "github_openapi.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
