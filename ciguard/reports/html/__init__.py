"""`report.html`: the run as one page for people that needs no network and no other file.

`history_files` makes the page that lies beside a baseline, and the badge.

Texts of cases travel as inert JSON and enter the page as text only; see docs/reports-html.md.
"""

from ciguard.reports.html.history import history_files
from ciguard.reports.html.inputs import ShownInputs
from ciguard.reports.html.reporter import HtmlReporter
from ciguard.reports.html.templates import own, style_hash, template_named

__all__ = [
    "HtmlReporter",
    "ShownInputs",
    "history_files",
    "own",
    "style_hash",
    "template_named",
]
