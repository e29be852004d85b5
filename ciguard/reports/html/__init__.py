"""`report.html`: the run as one self-contained page that needs no network.

`history_files` returns the page with a baseline's history, and a badge.

Fuzzed texts are embedded as JSON, which the page's script shows as text and never as markup; see
docs/reports-html.md.
"""

from ciguard.reports.html.history import history_files
from ciguard.reports.html.inputs import ShownInputs
from ciguard.reports.html.reporter import HtmlReporter
from ciguard.reports.html.templates import file_markup, style_hash, template_named

__all__ = [
    "HtmlReporter",
    "ShownInputs",
    "file_markup",
    "history_files",
    "style_hash",
    "template_named",
]
