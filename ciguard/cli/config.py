"""`ciguard config`: the effective settings, and the source of each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from ciguard.cli.options import example, takes_settings
from ciguard.cli.required import with_required_targets
from ciguard.config import SETTINGS
from ciguard.domain.text import visible

if TYPE_CHECKING:
    from ciguard.config import EffectiveSettings

SCHEMA = 1


@click.command(
    short_help="Show the effective settings.", epilog=example("ciguard config --budget 10m --json")
)
@takes_settings(*SETTINGS)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def config(settings: EffectiveSettings, *, as_json: bool) -> None:
    """Show the effective settings, and the source of each.

    Accepts the options of `ciguard run`, and shows the settings that a run with them would have.
    """
    settings = with_required_targets(settings)
    if as_json:
        click.echo(json.dumps(_json_document(settings), indent=2))
        return
    rows = [(key, visible(value), str(source)) for key, value, source in settings.shown()]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for key, value, source in rows:
        click.echo(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {source}")


def _json_document(settings: EffectiveSettings) -> dict[str, object]:
    values: dict[str, object] = {}
    for key, text, source in settings.shown():
        value = settings.config[SETTINGS[key]]
        # Severities are written as words; paths and rules have no JSON type.
        json_value = value if type(value) in {bool, int, float} else text
        if isinstance(value, tuple):
            json_value = [str(item) for item in value]
        values[key] = {"value": json_value, "source": source.kind.value, "name": source.name}
    return {
        "schema": SCHEMA,
        "file": str(settings.file) if settings.file else None,
        "settings": values,
    }
