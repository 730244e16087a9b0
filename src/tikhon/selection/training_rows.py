"""The training rows behind a study, for rules that judge every solution on them.

The table is referred to, not copied, and a pickled study forgets it: such rules are applied before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.data.coerce import Data
from tikhon.errors import UnsupportedError
from tikhon.theory.clipped import Clipped
from tikhon.theory.constants import largest_norm
from tikhon.typing import Float64Array

__all__ = ["TrainingRows"]

AT_ONCE = 2**24
"""Predictions held at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """The rows of positive weight that a study was made from.

    Attributes
    ----------
    data : Data or None
        None after pickling.
    intercept : bool
    """

    data: Data | None
    intercept: bool

    def __reduce__(self) -> tuple[type[TrainingRows], tuple[None, bool]]:
        return type(self), (None, self.intercept)

    @property
    def known(self) -> Data:
        """The rows, or an error that says why there are none."""
        if self.data is None:
            raise UnsupportedError(
                "rule 'srm' and 'mdl' look at the training rows, which a pickled study forgets; "
                "apply them before, or fit again."
            )
        return self.data

    @property
    def target(self) -> Float64Array:
        """The target of each row in use."""
        return np.asarray(self.known.y[self.known.used, 0])

    def spread(self) -> Float64Array:
        """Standard deviation of each column, 1 for a constant one."""
        return self.known.design.stats(self.known.s).scale

    def radius(self) -> float:
        """The largest norm of a row on centred and scaled columns."""
        data = self.known
        columns = data.design.stats(data.s)
        mean = columns.mean if self.intercept else None
        design = data.design if data.s is None else data.design.rows(data.used)
        return largest_norm(design, mean, columns.scale)

    def risks(
        self, clipped: Clipped, coefs: Float64Array, intercepts: Float64Array, *, zero_one: bool
    ) -> Float64Array:
        """Return the mean clipped loss, or the error rate, of each model: (L,).

        Parameters
        ----------
        clipped : Clipped
        coefs : ndarray of shape (L, d)
        intercepts : ndarray of shape (L,)
        zero_one : bool
        """
        data = self.known
        used = data.used
        p = np.full(len(used), 1.0) if data.s is None else data.s[used]
        p = p / p.sum()
        y = self.target[:, None]
        step = max(1, AT_ONCE // len(data.y))
        found = []
        for start in range(0, len(coefs), step):
            W = np.ascontiguousarray(coefs[start : start + step].T)
            Z = data.design.predict(W)[used] + intercepts[start : start + step]
            losses = (y * Z <= 0).astype(np.float64) if zero_one else clipped.values(y, Z)
            found.append(p @ losses)
        return np.concatenate(found)
