"""Several solvers over the same columns, their products with these taken together.

A solver is written as a generator that asks for a product with the columns where it needs one, and
reads as if it had the columns to itself. The products of all solvers that wait are then one product
with a matrix, which reads the columns once. Between products solvers run side by side on threads.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from tikhon._kernels import Stop
from tikhon.engine import map_units
from tikhon.solvers.working_sets import ColumnStore
from tikhon.typing import Float64Array

__all__ = ["Product", "Steps", "alone", "together"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """What a solver asks for: ``columns @ right`` on the rows, or ``columns' @ right``."""

    right: Float64Array
    onto_rows: bool


Steps = Generator[Product, Float64Array, Result]
"""A solver that asks for products and returns a result."""


def alone(store: ColumnStore, steps: Steps[Result]) -> Result:
    """Run one solver to its end."""
    try:
        asked = next(steps)
        while True:
            columns = store.data if asked.onto_rows else store.data.T
            asked = steps.send(np.asarray(columns @ asked.right))
    except StopIteration as end:
        result: Result = end.value
        return result


def together(store: ColumnStore, solvers: Sequence[Steps[Any]], stop: Stop) -> None:
    """Run several solvers to their ends, serving all that wait at once."""
    if len(solvers) == 1:
        map_units(lambda steps: alone(store, steps), solvers, stop=stop)
        return
    asked = map_units(lambda steps: next(steps, None), solvers, stop=stop)
    waiting = [(steps, ask) for steps, ask in zip(solvers, asked, strict=True) if ask is not None]
    while waiting:
        answers = _served(store, [ask for _, ask in waiting])
        turns = [(steps, answer) for (steps, _), answer in zip(waiting, answers, strict=True)]
        asked = map_units(_resumed, turns, stop=stop)
        waiting = [
            (steps, ask) for (steps, _), ask in zip(turns, asked, strict=True) if ask is not None
        ]


def _resumed(turn: tuple[Steps[Any], Float64Array]) -> Product | None:
    steps, answer = turn
    try:
        return steps.send(answer)
    except StopIteration:
        return None


def _served(store: ColumnStore, asks: Sequence[Product]) -> list[Float64Array]:
    """Answer all products, those of a kind by one product with a matrix."""
    answers: list[Float64Array] = [np.empty(0)] * len(asks)
    for onto_rows in (True, False):
        chosen = [i for i, ask in enumerate(asks) if ask.onto_rows is onto_rows]
        if not chosen:
            continue
        columns = store.data if onto_rows else store.data.T
        found = columns @ np.hstack([asks[i].right for i in chosen])
        start = 0
        for i in chosen:
            stop = start + asks[i].right.shape[1]
            answers[i] = np.ascontiguousarray(found[:, start:stop])
            start = stop
    return answers
