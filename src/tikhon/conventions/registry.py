"""All conventions by name, and the two translations."""

from __future__ import annotations

import difflib

from tikhon.conventions.convention import Convention
from tikhon.conventions.lectures import LECTURES
from tikhon.conventions.packages import GLMNET, OTHERS, PYTHON, SCIKIT_LEARN, SVM
from tikhon.conventions.strength import Strength

__all__ = ["SECTIONS", "find", "from_lam", "table", "to_lam"]

SECTIONS = (
    ("scikit-learn", SCIKIT_LEARN),
    ("LIBLINEAR and LIBSVM", SVM),
    ("Other Python packages", PYTHON),
    ("R glmnet", GLMNET),
    ("Spark and Vowpal Wabbit", OTHERS),
    ("The lectures", LECTURES),
)
"""The rows under the headings of the documentation."""


def table() -> tuple[Convention, ...]:
    """Return every convention, one row each.

    Examples
    --------
    >>> [row.lam for row in table() if "sklearn.SVC" in row.names]
    ['1 / (C n)']
    """
    return tuple(row for _, rows in SECTIONS for row in rows)


def find(convention: str) -> Convention:
    """Return the convention of that name or alias.

    Raises
    ------
    ValueError
        If there is none; the message lists the known ones.
    """
    by_name = {name: row for row in table() for name in row.names}
    if convention in by_name:
        return by_name[convention]
    close = difflib.get_close_matches(convention, by_name, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(
        f"`convention` {convention!r} is not known.{hint} Known are: {', '.join(by_name)}."
    )


def to_lam(
    convention: str, *, n: float | None = None, y_sd: float | None = None, **parameters: float
) -> Strength:
    """Translate a strength from another convention into the library's.

    Parameters
    ----------
    convention : str
        A name from `table`, such as "sklearn.Ridge".
    n : float, optional
        The sum of the sample weights (the number of rows if there are none), where the loss
        there is a sum.
    y_sd : float, optional
        The standard deviation of the targets, where they are divided by it there.
    **parameters : float
        The parameters there, by their names there (`lambda_` for lambda). A mixture that is left
        out has its default there.

    Returns
    -------
    Strength

    Raises
    ------
    ValueError
        For an unknown convention and for a number out of range.
    TypeError
        For a parameter that is unknown there, and if a strength, `n` or `y_sd` is missing.

    Examples
    --------
    >>> to_lam("sklearn.Ridge", alpha=5.0, n=100)
    Strength(lam=0.05, l1_ratio=0.0)
    >>> to_lam("sklearn.LogisticRegression", C=0.1, n=100)
    Strength(lam=0.1, l1_ratio=0.0)
    >>> to_lam("glmnet.gaussian", lambda_=0.5, alpha=0.5, y_sd=2.0)
    Strength(lam=0.375, l1_ratio=0.6666666666666666)
    """
    return find(convention).to_lam(parameters, n=n, y_sd=y_sd)


def from_lam(
    convention: str,
    lam: float,
    l1_ratio: float | None = None,
    *,
    n: float | None = None,
    y_sd: float | None = None,
) -> dict[str, float]:
    """Translate a strength of the library into another convention.

    Parameters
    ----------
    convention : str
        A name from `table`.
    lam : float
    l1_ratio : float, optional
        The mixture; must be given where the convention has both penalties.
    n, y_sd : float, optional
        As in `to_lam`.

    Returns
    -------
    dict of str to float
        The parameters there, by name.

    Raises
    ------
    ValueError
        For an unknown convention and for a number out of range.
    UnsupportedError
        If the convention does not have a penalty of that mixture.
    TypeError
        If `l1_ratio`, `n` or `y_sd` is needed and missing.

    Examples
    --------
    >>> from_lam("sklearn.Ridge", lam=0.05, n=100)
    {'alpha': 5.0}
    >>> from_lam("statsmodels.GLM", lam=0.1, l1_ratio=1.0)
    {'alpha': 0.1, 'L1_wt': 1.0}
    """
    return find(convention).from_lam(lam, l1_ratio, n=n, y_sd=y_sd)
