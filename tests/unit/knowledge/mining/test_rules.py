from __future__ import annotations

from dataclasses import replace

import pytest

from ciguard.knowledge.mining import (
    EXPLICIT_RULES,
    SHARED,
    MiningRule,
    ParameterText,
    RuleBook,
    RuleSet,
    Thresholds,
    extract,
    learn,
    learn_all,
)
from ciguard.knowledge.mining.annotations import AnnotatedSentence, Labels
from ciguard.knowledge.mining.rule_book import with_margins
from ciguard.knowledge.mining.rule_lines import RuleSyntaxError, from_lines, to_lines

BOOL: Labels = frozenset({("dtype", "bool"), ("ndim", "0")})
STRING: Labels = frozenset({("dtype", "string")})
COUNT: Labels = frozenset({("range", "[0,inf)"), ("dtype", "int")})
NOTHING: Labels = frozenset()


def samples(*texts: str, labels: Labels) -> list[AnnotatedSentence]:
    return [AnnotatedSentence(tuple(text.split()), labels) for text in texts]


SAMPLES = [
    *samples("whether to sort", "whether to keep it", "whether it is sparse", labels=BOOL),
    *samples("name of the op", "name of the layer", labels=STRING),
    *samples("see whether it is", "the op to use", "see the layer", labels=NOTHING),
]


def rule_set(*rules: MiningRule, **margins: float) -> RuleSet:
    thresholds = Thresholds(margins=margins)
    return RuleSet(library="torch", sentences=9, thresholds=thresholds, rules=rules)


def test_a_learned_rule_states_the_labels_of_most_matching_sentences() -> None:
    book = RuleBook(learn("torch", SAMPLES))

    constraints = {rule.field: rule.values for rule in book.constraints(["whether", "to", "copy"])}

    assert constraints == {"dtype": ("bool",), "ndim": ("0",)}
    assert book.constraints(["something", "else"]) == ()


def test_support_and_confidence_are_counted_in_labelled_sentences() -> None:
    rules = learn("torch", SAMPLES, thresholds=Thresholds(breadth=9)).rules

    whether = next(r for r in rules if r.pattern == ("whether",) and r.values == ("bool",))

    assert (whether.support, whether.hits, whether.confidence) == (4, 3, 0.75)


def test_thresholds_exclude_rare_and_uncertain_rules() -> None:
    rules = learn("torch", SAMPLES, thresholds=Thresholds(min_support=3, min_confidence=0.8)).rules

    assert all(rule.support >= 3 for rule in rules)
    assert all(rule.is_exception or rule.confidence >= 0.8 for rule in rules)


def test_an_exception_with_a_higher_confidence_removes_the_constraint() -> None:
    stating = MiningRule("dtype", ("whether",), ("bool",), 10, 8)
    exception = MiningRule("dtype", ("see", "whether"), (), 10, 10)
    book = RuleBook(rule_set(stating, exception, dtype=1.0))

    assert book.constraints(["whether"]) == (stating,)
    assert book.constraints(["see", "whether"]) == ()


def test_a_constraint_within_its_margin_is_kept_despite_an_exception() -> None:
    stating = MiningRule("range", ("size",), ("[0,inf)",), 10, 9)
    exception = MiningRule("range", ("the",), (), 10, 10)
    rules = rule_set(stating, exception, range=0.0)

    assert RuleBook(rules).constraints(["the", "size"]) == ()
    assert RuleBook(with_margins(rules, {"range": 5.0})).constraints(["the", "size"]) == (stating,)


def test_ranges_are_learned_from_all_libraries_and_other_fields_are_not() -> None:
    size = samples("how many steps", "how many bins", "how many", labels=COUNT)
    samples_of = {"torch": SAMPLES, "keras": [*size, *SAMPLES]}
    rules = {one.library: one for one in learn_all(samples_of)}

    stated = {
        library: {
            rule.field: rule.values
            for rule in RuleBook(rules[library], rules[SHARED].rules).constraints(["how", "many"])
        }
        for library in samples_of
    }

    assert stated["torch"] == {"range": ("[0,inf)",)}
    assert stated["keras"] == {"range": ("[0,inf)",), "dtype": ("int",)}


@pytest.mark.parametrize(
    ("sentence", "field", "values"),
    [
        ("Float between 0 and 1.", "range", ("[0,1]",)),
        ("The rate, must be >= 0.", "range", ("[0,inf)",)),
        ("Positive integer, number of units.", "range", ("(0,inf)",)),
        ('Padding, one of `"valid"` or `"same"` (case-insensitive).', "enum", ("valid", "same")),
        ("The number of dimensions can only be 1, 2 or 3.", "enum", ("1", "2", "3")),
    ],
)
def test_explicit_phrases_constrain_values_without_examples(
    sentence: str, field: str, values: tuple[str, ...]
) -> None:
    book = RuleBook(learn("torch", SAMPLES), EXPLICIT_RULES)
    text = ParameterText(library="torch", api="torch.f", parameter="x", description=sentence)

    found = {one.field: one.values for one in extract(text, book)}

    assert found[field] == values


def test_two_of_two_do_not_outrank_ninety_nine_of_a_hundred() -> None:
    frequent = MiningRule("dtype", ("a",), ("int",), 100, 99)
    rare = MiningRule("dtype", ("b",), ("float",), 2, 2)

    assert RuleBook(rule_set(frequent, rare)).constraints(["a", "b"]) == (frequent,)


def test_learning_does_not_depend_on_the_order_of_the_sentences() -> None:
    assert learn("torch", SAMPLES) == learn("torch", SAMPLES[::-1])


def test_rules_survive_a_round_trip_through_lines() -> None:
    rules = learn("torch", SAMPLES)

    assert from_lines(to_lines(rules)) == rules


def test_a_rule_is_one_line_that_shows_support_and_confidence() -> None:
    lines = list(to_lines(rule_set(MiningRule("dtype", ("^", "whether"), ("bool",), 4, 3))))

    assert lines[1] == (
        '{"field": "dtype", "pattern": "^ whether", "values": ["bool"], '
        '"support": 4, "hits": 3, "confidence": 0.75}'
    )


HEAD = next(iter(to_lines(rule_set())))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "line 1: the schema is not"),
        (["{"], "line 1 is not JSON"),
        (["[]"], "line 1 is not a JSON object"),
        (['{"schema": "ciguard.rules/9"}'], "line 1: the schema is not"),
        (['{"schema": "ciguard.rules/2"}'], "line 1: not the header of a rule file"),
        ([HEAD, "{}"], "line 2: not a valid rule"),
        (
            [HEAD, '{"field":"dtype","pattern":"^","values":[],"support":1,"hits":1}'],
            "line 2: not a valid rule: the pattern needs at least one word",
        ),
        (
            [HEAD, '{"field":"dtype","pattern":"a","values":[],"support":1,"hits":2}'],
            "line 2: not a valid rule: the pattern needs at least one word",
        ),
        (
            [HEAD, '{"field":"colour","pattern":"a","values":[],"support":1,"hits":1}'],
            "unknown fields: colour",
        ),
    ],
)
def test_an_invalid_line_is_rejected_with_its_number(lines: list[str], message: str) -> None:
    with pytest.raises(RuleSyntaxError, match=message):
        from_lines(lines)


def test_the_text_of_a_rule_is_one_line() -> None:
    rule = MiningRule("dtype", ("^", "whether"), ("bool",), 4, 3)

    assert str(rule) == "^ whether -> dtype bool (support 4, confidence 0.75)"
    assert str(replace(rule, values=())).startswith("^ whether -> dtype nothing")
