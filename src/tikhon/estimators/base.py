"""What all estimators share: checked input, predictions, and one warning for a bad outcome."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from tikhon.data.coerce import Data, as_data, as_design
from tikhon.data.design import Design
from tikhon.data.findings import Finding, table_findings
from tikhon.data.numbers import plain
from tikhon.errors import DataWarning, FitWarning, Problems, warn_user
from tikhon.estimators.names import check_columns
from tikhon.results import Certificate, Status, StatusCode
from tikhon.selection.fold_findings import fold_findings
from tikhon.typing import ArrayLike, Float64Array

__all__ = ["Estimator", "LinearEstimator", "check_range", "feature_labels", "one_column"]


class Estimator(BaseEstimator):  # type: ignore[misc]
    """Anything with `fit`: its input is checked in one place, its options are refused by name.

    Subclasses implement `_fit_checked`. A strength under the name it has elsewhere (``alpha``,
    ``C``) is refused with its translation, so that no number is carried over by accident.
    """

    tol: float
    fit_intercept: bool
    folds: Any
    foreign_strengths: ClassVar[dict[str, str]] = {}
    """Names of other packages' strengths, and how each becomes `lam`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        cls.__signature__ = inspect.Signature(parameters)  # `__new__` would hide it

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:  # noqa: ARG004
        """Refuse a foreign strength before `__init__` calls it an unexpected argument."""
        for name, translation in cls.foreign_strengths.items():
            if name in kwargs:
                value = kwargs[name]
                raise TypeError(
                    f"{cls.__name__} takes no `{name}`: "
                    + translation.format(
                        name=cls.__name__, value=value, per_1000=_per_1000(name, value)
                    )
                )
        made: Self = super().__new__(cls)
        return made

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        y : array of shape (n,), or (n, targets) where there may be several
        sample_weight : array of shape (n,), optional
            Weight 2 is the row twice, weight 0 is no row.
        groups : array of shape (n,), optional
            Rows of a group are held out together in cross-validation.

        Returns
        -------
        self

        Raises
        ------
        InputError
            Listing everything that is wrong with the input.
        """
        return self._fit_data(X, self._read(X, y, sample_weight, groups))

    def _fit_data(self, X: Any, data: Data) -> Self:
        """Fit to checked input; `X` tells the names of the columns."""
        if not self.tol > 0:
            raise ValueError(f"`tol` must be > 0, got {self.tol}.")
        if getattr(self, "fit_intercept", True) not in (True, False):
            raise ValueError(f"`fit_intercept` must be True or False, got {self.fit_intercept!r}.")
        validate_data(self, X, skip_check_array=True)
        own_units = getattr(self, "standardize", True) is False
        findings = table_findings(data, own_units=own_units)
        self._fit_checked(data)
        self._tell(*findings, *self._fold_findings(data))
        return self

    def _fold_findings(self, data: Data) -> tuple[Finding, ...]:
        study = getattr(self, "study_", None)
        return () if study is None else fold_findings(data, self.folds, study.fold)

    def _tell(self, *findings: Finding) -> None:
        """Keep what is odd about the table and its folds, and say it once."""
        self.findings_ = findings
        if findings:
            said = "; ".join(f"{number}. {found}" for number, found in enumerate(findings, 1))
            warn_user(f"{type(self).__name__}: {said}", DataWarning)

    def _read(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Data:
        """Check the input of a fit."""
        return as_data(X, y, sample_weight=sample_weight, groups=groups)

    def _fit_checked(self, data: Data) -> None:  # noqa: ARG002
        raise TypeError(f"{type(self).__name__} does not say how it is fitted.")

    def _design(self, X: Any) -> Design:
        """Check a table to predict for, once there is something to predict with."""
        check_is_fitted(self)
        design = as_design(X)
        check_columns(self, X)
        return design

    def _store(
        self,
        coef: Float64Array,
        intercept: Float64Array,  # noqa: ARG002
        data: Data,  # noqa: ARG002
        certificate: Certificate,  # noqa: ARG002
        status: Status,  # noqa: ARG002
    ) -> None:
        """Set the fitted attributes from (d, targets) coefficients; warn unless all is well."""
        raise TypeError(f"{type(self).__name__} does not say how {coef.shape} is stored.")

    def _certify(self, certificate: Certificate, status: Status) -> None:
        """Keep the outcome; warn unless all is well."""
        self.certificate_ = certificate
        self.status_ = status
        if status.code not in (StatusCode.CONVERGED, StatusCode.RANK_DEFICIENT) or (
            status.code is StatusCode.RANK_DEFICIENT and status.remedy
        ):
            warn_user(f"{type(self).__name__}: {status}", FitWarning)


class LinearEstimator(RegressorMixin, Estimator):  # type: ignore[misc]
    """A linear model for one or several numeric targets."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: Any) -> Float64Array:
        """Predict the target of each row.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, targets)
        """
        return np.asarray(self._design(X).predict(np.asarray(self.coef_.T)) + self.intercept_)

    def _store(
        self,
        coef: Float64Array,
        intercept: Float64Array,
        data: Data,
        certificate: Certificate,
        status: Status,
    ) -> None:
        """Set the fitted attributes from (d, targets) coefficients; warn unless all is well."""
        self.coef_ = coef[:, 0] if data.one_target else np.ascontiguousarray(coef.T)
        self.intercept_ = float(intercept[0]) if data.one_target else intercept
        self._certify(certificate, status)


def _per_1000(name: str, value: Any) -> str:
    """The translated strength for a table of 1,000 rows, as an example."""
    if not isinstance(value, int | float | np.number) or value <= 0:
        return "its translation"
    return (
        f"lam={float(value) / 1000:g}" if name == "alpha" else f"lam={1 / (float(value) * 1000):g}"
    )


def check_range(data: Data, smallest: float, largest: float) -> None:
    """Refuse columns whose size an algorithm cannot hold, all of them in one error."""
    scan = data.design.scan
    size = np.maximum(np.abs(scan.minimum), np.abs(scan.maximum))
    problems = Problems()
    for j in np.flatnonzero((size > largest) | ((size < smallest) & (size > 0))):
        problems.add(
            "range",
            "a column is too large or too small for float64 arithmetic",
            f"Divide it by {size[j]:.0e}.",
            column=feature_labels(data, [j]).strip("'"),
            value=f"{size[j]:g}",
        )
    problems.raise_if_any()


def feature_labels(data: Data, columns: ArrayLike, at_most: int = 10) -> str:
    """Name some columns in a message."""
    index = np.asarray(columns, dtype=np.int64)
    names = [repr(data.feature_names[j]) if data.feature_names else str(j) for j in index[:at_most]]
    more = f" and {len(index) - at_most} more" if len(index) > at_most else ""
    return ", ".join(names) + more


def one_column(y: Any) -> Any:
    """One value per row, from a column of them too, with a warning."""
    if y is None or not hasattr(y, "shape") or len(y.shape) != 2 or y.shape[1] != 1:
        return y
    warn_user(
        "A column-vector y was passed when a 1d array was expected: `y` has shape "
        f"{tuple(y.shape)}; use y.ravel().",
        DataConversionWarning,
    )
    return np.asarray(plain(y)).ravel()
