"""Train a small classifier on made-up clusters: `python train.py --epochs 2 --optimizer adam`."""

import argparse
import sys

import torch
from torch import nn

from ciguard.annotations import arg, floats, froms, ints, module_test, tensors

module_test(
    args=[
        "--epochs",
        froms(["1", "2"]),
        "--optimizer",
        froms(["sgd", "adam", "rmsprop"]),
        froms(["--quiet", "--report"]),
    ],
    timeout=60,
)


@arg("samples", ints(min=1, max=40))
@arg("features", ints(min=1, max=6))
@arg("classes", ints(min=1, max=5))
@arg("spread", floats(min=0, max=2))
def make_clusters(samples, features=4, classes=3, spread=0.5):
    torch.manual_seed(0)
    centres = torch.randn(classes, features) * 3
    labels = torch.arange(samples) % classes
    return centres[labels] + spread * torch.randn(samples, features), labels


@arg("features", ints(min=1, max=8))
@arg("hidden", ints(min=1, max=16))
@arg("classes", ints(min=2, max=5))
def build(features, hidden, classes):
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, classes))


@arg("scores", tensors("float32", (ints(1, 8), 4), min=-5, max=5))
@arg("labels", tensors("int64", (8,), min=0, max=3))
def accuracy(scores, labels):
    return (scores.argmax(dim=1) == labels[: len(scores)]).float().mean().item()


def make_optimizer(name, model, rate):
    if name == "sgd":
        return torch.optim.SGD(model.parameters(), lr=rate)
    if name == "adam":
        return torch.optim.Adam(model.parameters(), lr=rate)
    return torch.optim.RMSProp(model.parameters(), lr=rate)


def train(model, x, y, optimizer, batch_size=8):
    total = 0.0
    for start in range(0, len(x), batch_size):
        loss = nn.functional.cross_entropy(
            model(x[start : start + batch_size]), y[start : start + batch_size]
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / (len(x) // batch_size)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--optimizer", default="sgd", choices=["sgd", "adam", "rmsprop"])
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()

    x, y = make_clusters(50)
    model = build(4, 16, 3)
    optimizer = make_optimizer(options.optimizer, model, 0.05)
    for epoch in range(options.epochs):
        loss = train(model, x, y, optimizer)
        if options.report:
            print >> sys.stderr, "epoch %d: loss %.4f" % (epoch, loss)
    if not options.quiet:
        print("accuracy %.3f" % accuracy(model(x), y))


if __name__ == "__main__":
    main()
