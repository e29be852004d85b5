"""Forty torch calls on small arguments. Runs in the target: `python torch_calls.py …`."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - as everybody writes it

torch.set_num_threads(1)
X = torch.linspace(-1.0, 1.0, 12).reshape(3, 4)
Y = torch.linspace(0.5, 2.0, 12).reshape(3, 4)
S = X[:, :3] @ X[:, :3].T + torch.eye(3)
I = torch.arange(12).reshape(3, 4)  # noqa: E741 - integers
IMAGE = torch.linspace(-1.0, 1.0, 50).reshape(1, 2, 5, 5)
KERNEL = torch.linspace(-1.0, 1.0, 54).reshape(3, 2, 3, 3)

CALLS = {
    "torch.add": lambda: torch.add(X, Y),
    "torch.sub": lambda: torch.sub(X, Y),
    "torch.mul": lambda: torch.mul(X, Y),
    "torch.div": lambda: torch.div(X, Y),
    "torch.pow": lambda: torch.pow(Y, 2),
    "torch.abs": lambda: torch.abs(X),
    "torch.exp": lambda: torch.exp(X),
    "torch.log": lambda: torch.log(Y),
    "torch.sqrt": lambda: torch.sqrt(Y),
    "torch.sin": lambda: torch.sin(X),
    "torch.tanh": lambda: torch.tanh(X),
    "torch.sigmoid": lambda: torch.sigmoid(X),
    "torch.clamp": lambda: torch.clamp(X, -0.5, 0.5),
    "torch.sum": lambda: torch.sum(X, 1),
    "torch.mean": lambda: torch.mean(X, 0),
    "torch.amax": lambda: torch.amax(X, 1),
    "torch.argmax": lambda: torch.argmax(X),
    "torch.cumsum": lambda: torch.cumsum(X, 1),
    "torch.sort": lambda: torch.sort(X),
    "torch.topk": lambda: torch.topk(X, 2),
    "torch.matmul": lambda: torch.matmul(X, Y.T),
    "torch.mm": lambda: torch.mm(X, Y.T),
    "torch.cat": lambda: torch.cat([X, Y]),
    "torch.stack": lambda: torch.stack([X, Y]),
    "torch.reshape": lambda: torch.reshape(X, (4, 3)),
    "torch.transpose": lambda: torch.transpose(X, 0, 1),
    "torch.flip": lambda: torch.flip(X, [0]),
    "torch.roll": lambda: torch.roll(X, 1, 0),
    "torch.where": lambda: torch.where(X > 0, X, Y),
    "torch.gather": lambda: torch.gather(X, 1, I[:, :2] % 4),
    "torch.bitwise_and": lambda: torch.bitwise_and(I, I),
    "torch.linalg.det": lambda: torch.linalg.det(S),
    "torch.nn.functional.relu": lambda: F.relu(X),
    "torch.nn.functional.gelu": lambda: F.gelu(X),
    "torch.nn.functional.softmax": lambda: F.softmax(X, 1),
    "torch.nn.functional.linear": lambda: F.linear(X, Y),
    "torch.conv2d": lambda: torch.conv2d(IMAGE, KERNEL),
    "torch.nn.functional.max_pool2d": lambda: F.max_pool2d(IMAGE, 2),
    "torch.nn.functional.pad": lambda: F.pad(X, (1, 1)),
    "torch.nn.functional.mse_loss": lambda: F.mse_loss(X, Y),
}

if __name__ == "__main__":
    from measure import main

    main(CALLS)
