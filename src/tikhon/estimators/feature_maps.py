"""Transformers whose inner products are near a kernel, with an estimate of how near."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from tikhon.data.coerce import as_design
from tikhon.errors import UnsupportedError
from tikhon.kernel import Kernel, Precomputed, as_kernel
from tikhon.kernel.maps import FourierMap, NystroemMap, fourier_map, nystroem_map
from tikhon.solvers.support_kernel import seen_rows
from tikhon.typing import Float64Array

__all__ = ["Nystroem", "RandomFeatures"]


class _KernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What both maps share: columns scaled, a kernel resolved, features made by a map."""

    kernel: Any
    n_components: int
    standardize: bool
    seed: int

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _draw(self, kernel: Kernel, X: Any, rng: np.random.Generator) -> NystroemMap | FourierMap:
        """Make the map."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Draw the map from the rows of a table.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        y : ignored
        """
        if not (isinstance(self.n_components, int | np.integer) and self.n_components >= 1):
            raise ValueError(
                f"`n_components` must be a whole number >= 1, got {self.n_components!r}."
            )
        kernel = as_kernel(self.kernel)
        if isinstance(kernel, Precomputed):
            raise UnsupportedError("a precomputed kernel has no features; give the kernel itself.")
        design = as_design(X)
        validate_data(self, X, skip_check_array=True)
        stats = design.stats()
        scales = self.standardize and kernel.scales
        self.scale_ = stats.scale if scales else np.ones(design.shape[1])
        centred = not design.is_sparse and (kernel.shifts or (kernel.moves and scales))
        self.shift_ = stats.mean if centred else np.zeros(design.shape[1])
        self.kernel_ = kernel.resolved(float(((stats.sd / self.scale_) ** 2).sum()))
        self._map = self._draw(self.kernel_, self._seen(design), np.random.default_rng(self.seed))
        self.error_ = self._map.error
        return self

    def _seen(self, design: Any) -> Any:
        return seen_rows(design, self.shift_, self.scale_, plain=not self.kernel_.scales)

    def transform(self, X: Any) -> Float64Array:
        """Return the features of each row.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n, features)
        """
        check_is_fitted(self)
        design = as_design(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._map.features(self._seen(design))

    @property
    def _n_features_out(self) -> int:
        if isinstance(self._map, FourierMap):
            return 2 * int(self._map.frequencies.shape[1])
        return len(self._map.index)


class Nystroem(_KernelMap):
    """Features from landmark rows, ``phi(x) . phi(z)`` near ``k(x, z)``; exact between landmarks.

    Parameters
    ----------
    kernel : str, kernel or callable, default "rbf"
    n_components : int, default 100
        How many landmarks; fewer where these determine all rows.
    standardize : bool, default True
        Divide columns by their standard deviation. Not for functions.
    seed : int, default 0

    Attributes
    ----------
    error_ : float
        ``trace(K - Phi Phi') / trace(K)`` on the training rows: the share of the kernel matrix, in
        the sum of its eigenvalues, that the features miss. Exact.
    landmarks_ : ndarray of int
        Which rows.
    kernel_ : kernel
        With its parameters as numbers.
    shift_, scale_ : ndarray of shape (d,)
    n_features_in_ : int

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> few, many = tk.Nystroem(n_components=20).fit(X), tk.Nystroem(n_components=200).fit(X)
    >>> many.transform(X).shape, many.error_ < few.error_ < 1
    ((442, 200), True)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        n_components: int = 100,
        standardize: bool = True,
        seed: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.standardize = standardize
        self.seed = seed

    def _draw(self, kernel: Kernel, X: Any, rng: np.random.Generator) -> NystroemMap:
        made = nystroem_map(kernel, X, int(self.n_components), rng)
        self.landmarks_ = made.index
        return made


class RandomFeatures(_KernelMap):
    """Cosines and sines of random frequencies, ``phi(x) . phi(z)`` near ``k(x, z)``.

    For kernels of differences, the RBF and the Laplacian. The error of one value has the standard
    deviation ``sqrt(1 / n_components)`` at most, whatever the table.

    Parameters
    ----------
    kernel : str or kernel, default "rbf"
    n_components : int, default 100
        Cosines and sines together.
    standardize : bool, default True
    seed : int, default 0

    Attributes
    ----------
    error_ : float
        Root mean square of ``phi(x) . phi(z) - k(x, z)`` over 2,000 pairs of training rows.
    error_se_ : float
        Its standard error.
    kernel_ : kernel
    shift_, scale_ : ndarray of shape (d,)
    n_features_in_ : int

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> maps = [tk.RandomFeatures(n_components=m).fit(X) for m in (20, 2000)]
    >>> maps[1].transform(X).shape, maps[1].error_ < maps[0].error_ < 1
    ((442, 2000), True)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        n_components: int = 100,
        standardize: bool = True,
        seed: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.standardize = standardize
        self.seed = seed

    def _draw(self, kernel: Kernel, X: Any, rng: np.random.Generator) -> FourierMap:
        made = fourier_map(kernel, X, int(self.n_components), rng)
        self.error_se_ = made.error_se
        return made
