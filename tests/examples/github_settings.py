"""Settings of a repository as GitHub shows them: rulesets, workflows, what it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from github_repository import NAME, Json, RefusedError

_STAMP = "2026-01-01T00:00:00Z"


@dataclass
class SettingsStore:
    """What maintainers have set."""

    default_branch: str = "main"
    is_fork: bool = False
    permissions: Json = field(default_factory=lambda: {"admin": False, "pull": True, "push": True})
    rules: dict[str, list[Json]] = field(default_factory=dict)
    """By branch; a branch need not exist."""
    workflows: dict[str, str] = field(default_factory=dict)
    """State by path."""
    may_read_actions: bool = True
    runners: list[Json] = field(default_factory=list)
    """Self-hosted ones, see `runner`."""
    is_admin: bool = True
    """Only administrators may list runners."""

    def about(self, *, is_archived: bool) -> Json:
        """Return what is set of what a repository shows."""
        return {
            "fork": self.is_fork,
            "archived": is_archived,
            "default_branch": self.default_branch,
            "permissions": self.permissions,
        }

    def rules_of(self, branch: str) -> list[Json]:
        about = {"ruleset_source_type": "Repository", "ruleset_source": NAME, "ruleset_id": 1}
        return [{**rule, **about} for rule in self.rules.get(branch, ())]

    def list_runners(self) -> Json:
        if not self.is_admin:
            raise RefusedError(403, "Resource not accessible by integration")
        return {"total_count": len(self.runners), "runners": self.runners}

    def list_workflows(self, base: str) -> Json:
        if not self.may_read_actions:
            raise RefusedError(403, "Resource not accessible by integration")
        shown = [
            {
                "id": number,
                "node_id": f"W_{number}",
                "name": path,
                "path": path,
                "state": state,
                "url": f"{base}/repos/{NAME}/actions/workflows/{number}",
                "html_url": f"https://github.com/{NAME}/blob/main/{path}",
                "badge_url": f"https://github.com/{NAME}/workflows/{number}/badge.svg",
                "created_at": _STAMP,
                "updated_at": _STAMP,
            }
            for number, (path, state) in enumerate(self.workflows.items(), start=1)
        ]
        return {"total_count": len(shown), "workflows": shown}


def runner(*labels: str, is_online: bool = True) -> Json:
    """Return a runner of the repository's own."""
    names = ("self-hosted", "Linux", "X64", *labels)
    return {
        "id": 1,
        "name": "machine",
        "os": "linux",
        "status": "online" if is_online else "offline",
        "busy": False,
        "labels": [{"id": number, "name": name} for number, name in enumerate(names, start=1)],
    }


def required(*checks: str) -> Json:
    """Return the rule that wants checks to have passed."""
    listed = [{"context": check} for check in checks]
    return {
        "type": "required_status_checks",
        "parameters": {
            "required_status_checks": listed,
            "strict_required_status_checks_policy": False,
        },
    }


MERGE_QUEUE: Json = {
    "type": "merge_queue",
    "parameters": {
        "check_response_timeout_minutes": 60,
        "grouping_strategy": "ALLGREEN",
        "max_entries_to_build": 5,
        "max_entries_to_merge": 5,
        "merge_method": "MERGE",
        "min_entries_to_merge": 1,
        "min_entries_to_merge_wait_minutes": 5,
    },
}
