"""How well a network does: confusion matrix, overlap, precision and recall."""

import numpy as np

from ciguard.annotations import anys, arg, ensure, ints, np_arrays, ref, require


@arg("truth", np_arrays("int64", (ints(1, 20),), min=0, max=4))
@arg("guess", np_arrays("int64", (ref("truth.shape[0]"),), min=0, max=4))
@arg("classes", anys(None, ints(min=5, max=7)))
def confusion_matrix(truth, guess, classes=None):
    """Count guesses by true class (row) and guessed class (column)."""
    if classes is None:
        classes = len(np.unique(truth))
    matrix = np.zeros((classes, classes), dtype="int64")
    for row, column in zip(truth, guess):
        matrix[row, column] += 1
    return matrix


@arg("truth", np_arrays("bool", (ints(1, 4), ints(1, 6), ints(1, 6))))
@arg("guess", np_arrays("float32", ref("truth.shape"), min=0, max=1))
def mean_iou(truth, guess):
    """Average, over images, the overlap of masks; two empty ones agree."""
    marked = guess > 0.5
    both = np.logical_and(truth, marked).sum(axis=(1, 2))
    either = np.logical_or(truth, marked).sum(axis=(1, 2))
    return np.where(either > 0, both / np.maximum(either, 1), 1.0).mean()


@arg("matrix", np_arrays("int64", (ref("n"), ref("n")), min=0, max=30))
@arg("n", ints(min=1, max=5))
def precision_recall(matrix, n):
    """Return precision and recall of each class; None for a class without any samples."""
    table = {}
    for label in range(n):
        precision, recall = _of_class(matrix, label)
        table[label] = (precision, recall)
    return table


def _of_class(matrix, label):
    hits = matrix[label, label]
    if matrix[label].sum() == 0:
        return None
    guessed = matrix[:, label].sum()
    return (hits / guessed if guessed else 0.0), hits / matrix[label].sum()


@arg("scores", np_arrays("float32", (ints(1, 10), ints(2, 6)), min=0, max=1))
@arg("truth", np_arrays("int64", (ref("scores.shape[0]"),), min=0, max=1))
@arg("k", ints(min=1, max=6))
@require("k <= scores.shape[1]")
@ensure("k < scores.shape[1] or result == 1")
def top_k_accuracy(scores, truth, k=1):
    """Return the share of samples whose class is among the k best."""
    best = np.argsort(scores, axis=0)[:, -k:]
    hits = 0
    for row in range(len(truth)):
        hits += truth[row] in best[row]
    return hits / len(truth)


@arg("scores", np_arrays("float32", (ints(1, 12), ints(1, 4)), min=0, max=1))
@arg("sizes", np_arrays("int64", (ref("scores.shape[1]"),), min=1, max=9))
def weighted_mean(scores, sizes):
    """Average the scores of each class, then those averages by the classes' sizes."""
    return np.average(scores.mean(axis=1), weights=sizes)
