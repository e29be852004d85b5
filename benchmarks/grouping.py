"""Groups of buckets against root causes that somebody labelled by hand, on real crashes.

    python benchmarks/grouping.py [--labels benchmarks/causes] [--list]

The folder holds `labels.csv` (fingerprint → cause) and `buckets-*.jsonl.gz` (buckets of several
seeds, each with the key `seed`); its README says how they were made. Prints, for each seed and for
all, the adjusted Rand index, homogeneity, completeness and the share of wrong pairs among those
that are put together, of ciguard's groups and of three other ways on the same buckets: similarity
of stacks, templates of messages as drain3 learns them, and words of message and stack as vectors.
Needs the dependency group `benchmarks`. Ends with 1 if ciguard's groups are below 0.98 or have more
than 0.5 % of wrong pairs.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig
from sklearn.cluster import AgglomerativeClustering
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score, completeness_score, homogeneity_score

from ciguard.domain.findings import Bucket, bucket_from_json
from ciguard.domain.outcomes import Crashed, Errored, Frame, Hung
from ciguard.triage import cause_of, native_frames, summary_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

WANTED = 0.98
WRONG = 0.005
_STACKS_APART = 0.3
_WORDS_APART = 0.25


@dataclass(frozen=True, slots=True)
class Labelled:
    """A bucket of one seed, and its cause."""

    seed: str
    bucket: Bucket
    """As its run left it."""
    traced: Bucket
    """With its native stack, where there is one."""
    cause: str


def read(folder: Path) -> list[Labelled]:
    """Return the labelled buckets of all seeds."""
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        causes = {row["fingerprint"]: row["cause"] for row in csv.DictReader(file)}
    found = []
    for path in sorted(folder.glob("buckets-*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for encoded in map(json.loads, lines):
                bucket = bucket_from_json(encoded)
                if bucket.fingerprint in causes:
                    cause = f"{bucket.finding.library}: {causes[bucket.fingerprint]}"
                    frames = (Frame(file, name) for file, name in encoded["traced"])
                    traced = replace(bucket, native_stack=native_frames(frames))
                    found.append(Labelled(str(encoded["seed"]), bucket, traced, cause))
    return found


# --- ways to group --------------------------------------------------------------------------------


def by_fingerprint(items: Sequence[Labelled]) -> list[str]:
    """Every bucket is its own group."""
    return [item.bucket.fingerprint for item in items]


def by_cause(items: Sequence[Labelled]) -> list[str]:
    """What ciguard takes for one cause."""
    return [cause_of(item.bucket).name for item in items]


def by_traced_cause(items: Sequence[Labelled]) -> list[str]:
    """What ciguard takes for one cause where a debugger has seen every crash."""
    return [cause_of(item.traced).name for item in items]


def by_stack(items: Sequence[Labelled]) -> list[str]:
    """Stacks that are alike from the innermost frame on are one cluster, as crash triage does."""
    stacks = [_frames(item.traced) for item in items]
    return _clustered(items, [[_apart(a, b) for b in stacks] for a in stacks], _STACKS_APART)


def by_template(items: Sequence[Labelled]) -> list[str]:
    """Messages of one template, as it is learned from all of them."""
    config = TemplateMinerConfig()
    config.drain_sim_th = 0.6
    miner = TemplateMiner(config=config)
    lines = [_line(item.bucket) or item.bucket.fingerprint for item in items]
    for line in lines:
        miner.add_log_message(line)
    matched = [miner.match(line) for line in lines]
    return [
        str(found.cluster_id) if found else line for found, line in zip(matched, lines, strict=True)
    ]


def by_words(items: Sequence[Labelled]) -> list[str]:
    """Vectors of the words of message and stack that are near each other."""
    texts = [f"{_line(item.bucket)} {' '.join(_frames(item.traced))}" for item in items]
    words = TfidfVectorizer(token_pattern=r"[A-Za-z_]{2,}")  # noqa: S106 - no secret
    vectors = words.fit_transform(texts)
    apart = 1.0 - (vectors @ vectors.T).toarray()
    return _clustered(items, apart.clip(0.0, 1.0).tolist(), _WORDS_APART)


WAYS: dict[str, Callable[[Sequence[Labelled]], list[str]]] = {
    "fingerprints": by_fingerprint,
    "ciguard's groups": by_cause,
    "… with native stacks": by_traced_cause,
    "similarity of stacks": by_stack,
    "templates (drain3)": by_template,
    "words as vectors": by_words,
}


def _frames(bucket: Bucket) -> list[str]:
    if bucket.native_stack:
        return [frame.function for frame in bucket.native_stack]
    outcomes = (bucket.finding.outcomes.get(name) for name in bucket.finding.targets)
    stacks = [o.stack for o in outcomes if isinstance(o, Crashed | Errored | Hung)]
    return [frame.function for frame in stacks[0]] if stacks else []


def _line(bucket: Bucket) -> str:
    outcomes = (bucket.finding.outcomes.get(name) for name in bucket.finding.targets)
    return next((summary_line(outcome) for outcome in outcomes if outcome is not None), "")


def _apart(one: list[str], other: list[str]) -> float:
    """Return how much two stacks differ, 0 to 1: frames near the top count more."""
    if not one or not other:
        return 1.0
    weights = [0.8**place for place in range(max(len(one), len(other)))]
    alike = sum(w for w, a, b in zip(weights, one, other, strict=False) if a == b)
    return 1.0 - alike / sum(weights)


def _clustered(items: Sequence[Labelled], apart: list[list[float]], most: float) -> list[str]:
    """Return the clusters whose members are at most so far apart, within one library."""
    if len(items) == 1:
        return ["alone"]
    for row, one in zip(apart, items, strict=True):
        for column, other in enumerate(items):
            if one.bucket.finding.library != other.bucket.finding.library:
                row[column] = 1.0
            elif one is other:
                row[column] = 0.0
    clusters = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage="complete", distance_threshold=most
    )
    return [str(number) for number in clusters.fit_predict(apart)]


# --- scores ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """How groups agree with causes."""

    rand: float
    homogeneity: float
    completeness: float
    wrong: float
    """Of the pairs that are put together, those of two causes."""
    groups: int

    def __str__(self) -> str:
        return (
            f"{self.rand:>8.4f}{self.homogeneity:>13.4f}{self.completeness:>14.4f}"
            f"{self.wrong:>9.2%}{self.groups:>8}"
        )


def score(causes: Sequence[str], groups: Sequence[str]) -> Score:
    """Compare groups with causes."""
    together = [
        causes[a] == causes[b]
        for a, b in combinations(range(len(causes)), 2)
        if groups[a] == groups[b]
    ]
    return Score(
        rand=adjusted_rand_score(causes, groups),
        homogeneity=homogeneity_score(causes, groups),
        completeness=completeness_score(causes, groups),
        wrong=together.count(False) / len(together) if together else 0.0,
        groups=len(set(groups)),
    )


def print_scores(items: Sequence[Labelled]) -> Score:
    """Print all ways on each seed and on every bucket once; return ciguard's on the latter."""
    once = list({item.bucket.fingerprint: item for item in items}.values())
    sets: dict[str, Sequence[Labelled]] = {"every bucket once": once}
    for seed in sorted({item.seed for item in items}):
        sets[f"seed {seed}"] = [item for item in items if item.seed == seed]
    scores = {}
    for title, chosen in sets.items():
        causes = [item.cause for item in chosen]
        print(f"\n{title}: {len(chosen)} buckets, {len(set(causes))} causes")
        print(f"{'':<22}{'ARI':>8}{'homogeneity':>13}{'completeness':>14}{'wrong':>9}{'groups':>8}")
        for name, way in WAYS.items():
            found = score(causes, way(chosen))
            scores[title, name] = found
            print(f"{name:<22}{found}")
    return scores["every bucket once", "ciguard's groups"]


def print_stability(items: Sequence[Labelled]) -> None:
    """Print how many buckets that several seeds met have one group name in all of them."""
    names: dict[str, set[str]] = defaultdict(set)
    met: Counter[str] = Counter()
    for item in items:
        names[item.bucket.fingerprint].add(cause_of(item.bucket).name)
        met[item.bucket.fingerprint] += 1
    again = [name for name, count in met.items() if count > 1]
    stable = sum(len(names[name]) == 1 for name in again)
    print(
        f"\n{stable} of {len(again)} buckets that several seeds met have one group in all of them"
    )


def print_mistakes(items: Iterable[Labelled]) -> None:
    """Print groups of several causes, and causes of several groups."""
    by_group: dict[str, Counter[str]] = defaultdict(Counter)
    by_label: dict[str, Counter[str]] = defaultdict(Counter)
    for item in {item.bucket.fingerprint: item for item in items}.values():
        cause = cause_of(item.bucket)
        by_group[cause.words if cause.kind != "of its own" else cause.name][item.cause] += 1
        by_label[item.cause][f"{cause.words} ({cause.name})"] += 1
    for title, several in (
        ("group of several causes", by_group),
        ("cause in several groups", by_label),
    ):
        for name, counts in several.items():
            if len(counts) > 1:
                print(f"\n{title}: {name}")
                for other, count in counts.most_common():
                    print(f"  {count:>4}  {other}")


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--labels", type=Path, default=Path(__file__).parent / "causes")
    parser.add_argument("--list", action="store_true", help="print the mistakes, too")
    args = parser.parse_args()
    items = read(args.labels)
    found = print_scores(items)
    print_stability(items)
    if args.list:
        print_mistakes(items)
    is_good = min(found.rand, found.homogeneity, found.completeness) >= WANTED
    return 0 if is_good and found.wrong <= WRONG else 1


if __name__ == "__main__":
    sys.exit(main())
