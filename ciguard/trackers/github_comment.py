"""ciguard's single comment on a pull request, found by its marker and author."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from github import UnknownObjectException

from ciguard.trackers.github_client import GitHubClient

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.IssueComment import IssueComment

    from ciguard.trackers.connection import Connection
    from ciguard.trackers.publication import Comment
    from ciguard.trackers.retry_budget import RetryBudget


class StickyComment:
    """ciguard's comments on the pull requests of one repository."""

    def __init__(self, connection: Connection, retry_budget: RetryBudget) -> None:
        self._client = GitHubClient(connection, retry_budget, needs="pull-requests: write")

    def publish(self, comment: Comment) -> str:
        """Create or update the comment, unless the pull request has a newer head commit.

        Returns a sentence about what was done.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        where = f"comment on #{comment.number}"
        head = self._client.repository.get_git_ref(f"pull/{comment.number}/head")
        if self._client.retry(lambda: head.object.sha) != comment.head.sha:
            return f"{where} unchanged: the pull request has a newer commit"
        issue = self._client.repository.get_issue(comment.number)
        text = f"{_marker(comment)}\n{comment.body}"
        ours = self._ours(issue, comment, comment.author)
        if not ours and not comment.is_news:
            return f"{where} not posted: there is nothing to report"
        if not ours:
            created = self._client.create(
                lambda: issue.create_comment(text),
                lambda: next(iter(self._ours(issue, comment, comment.author)), None),
                name=where,
            )
            # If the token's account is not `comment.author`, it may have older comments.
            ours = self._ours(issue, comment, _login(created)) or [created]
        first, *others = ours
        if first.body != text:
            self._client.retry(lambda: first.edit(text))
        for other in others:
            self._client.retry(partial(_delete, other))
        return f"{where} is up to date"

    def _ours(self, issue: Issue, comment: Comment, author: str) -> list[IssueComment]:
        """Return the comments with our marker and the author, the oldest first."""
        listed = self._client.retry(lambda: list(issue.get_comments()))
        marker = _marker(comment)
        ours = [item for item in listed if _login(item) == author and item.body.startswith(marker)]
        return sorted(ours, key=lambda item: item.id)


def _marker(comment: Comment) -> str:
    # A hyphen is the only character of a name that could end an HTML comment early.
    return f"<!-- ciguard-status: {comment.head.name.replace('-', '_')} -->"


def _login(comment: IssueComment) -> str:
    user: Any = comment.user  # GitHub may send none, although PyGithub's types exclude it
    return "" if user is None else str(user.login)


def _delete(comment: IssueComment) -> None:
    try:
        comment.delete()
    except UnknownObjectException:
        return  # another job deleted it
