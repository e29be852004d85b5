"""`ciguard api learn`: learn documentation rules from labelled sentences."""

from __future__ import annotations

from pathlib import Path

import click

from ciguard.cli.options import example

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    short_help="Learn documentation rules from labelled sentences.",
    epilog=example("ciguard api learn --sentences labels.jsonl --out rules"),
)
@click.option(
    "--sentences", type=_FILE, required=True, help="File with labelled sentences, in JSON Lines."
)
@click.option(
    "--docs",
    type=_FILE,
    help="File with the documentation that contains the sentences, in JSON Lines.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("rules"),
    show_default=True,
    help="Folder for the rules, one file per library.",
)
@click.option(
    "--min-support",
    type=click.FloatRange(min=1.0),
    default=2.0,
    show_default=True,
    help="Minimum number of sentences that a pattern must match; a sentence that occurs n "
    "times counts as sqrt(n).",
)
@click.option(
    "--min-confidence",
    type=click.FloatRange(0.0, 1.0),
    default=0.5,
    show_default=True,
    help="Minimum share of a pattern's matched sentences that state the constraint, from 0 to 1.",
)
def learn(
    *, sentences: Path, docs: Path | None, out: Path, min_support: float, min_confidence: float
) -> None:
    """Learn rules from labelled sentences; the rules extract constraints from documentation.

    docs/knowledge.md describes the files and the algorithm.
    """
    from ciguard.knowledge import Thresholds, learn_from_files

    thresholds = Thresholds(min_support=min_support, min_confidence=min_confidence)
    for rules in learn_from_files(sentences, out, docs=docs, thresholds=thresholds):
        stating = sum(not rule.is_exception for rule in rules.rules)
        click.echo(
            f"{rules.library}: {len(rules.rules)} rules from {rules.sentences} labelled sentences; "
            f"{stating} of the rules state a constraint"
        )
    click.echo(f"Written to {out}")
