"""Columns at prediction, held against the columns of the fit: by name, all differences at once."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import _get_feature_names, validate_data

from tikhon.errors import Problems

__all__ = ["check_columns"]


def check_columns(estimator: Any, X: Any) -> None:
    """Refuse a table whose columns are missing, new, or in another order than at the fit.

    The comparison and its words are scikit-learn's; what it finds becomes a table of problems.

    Raises
    ------
    InputError
        One line for the difference, and one for each missing and each unexpected column.
    ValueError
        scikit-learn's own, for a table without names that has another number of columns.
    """
    try:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    except ValueError as error:
        fitted, given = getattr(estimator, "feature_names_in_", None), _get_feature_names(X)
        if fitted is None or given is None:
            raise
        problems = Problems()
        problems.add(
            "columns",
            str(error),
            "Select them by name: X[list(model.feature_names_in_)].",
        )
        known, seen = set(fitted), set(given)
        for name in (name for name in fitted if name not in seen):
            problems.add("missing_column", "a column is missing", "Add it.", column=str(name))
        for name in (name for name in given if name not in known):
            problems.add(
                "unexpected_column", "a column was not there", "Leave it out.", column=str(name)
            )
        problems.raise_if_any()
