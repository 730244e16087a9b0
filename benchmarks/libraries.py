"""Which library does which task, by which adapter. A new rival adds its file and a line here."""

from __future__ import annotations

from dataclasses import dataclass

DECADES = tuple(10.0**-k for k in range(3, 16))

FROM = tuple(10.0**-k for k in range(1, 16))
"""For tolerances that are relative to the null model, where the loosest may already do."""


@dataclass(frozen=True, slots=True)
class Library:
    """A row of the tables.

    `tolerances` run from loose to tight; the harness climbs them until the accuracy it asks for
    is reached. Empty for direct methods. `layout` is the memory order the library is fastest
    with. A row that is not `comparable` answers another question and is shown for information.
    """

    title: str
    adapter: str
    function: str
    layout: str = "C"
    tolerances: tuple[float, ...] = ()
    comparable: bool = True
    note: str = ""


CHOICE = "returns no path: judged at the strength it selects alone"
CERTIFIED = "at its default: gap certified at every strength"

LIBRARIES: dict[str, dict[str, Library]] = {
    "ridge_cv": {
        "tikhon": Library("tikhon", "tikhon", "ridge_cv"),
        "sklearn": Library("scikit-learn RidgeCV(cv)", "sklearn", "ridge_cv"),
        "sklearn-loo": Library(
            "scikit-learn RidgeCV()",
            "sklearn",
            "ridge_loo",
            comparable=False,
            note="leave-one-out: another criterion, for information",
        ),
        "glmnet": Library(
            "python-glmnet",
            "glmnet",
            "ridge_cv",
            layout="F",
            tolerances=DECADES,
            note="its folds shift lam by the fold's standard deviation of y",
        ),
        "adelie": Library(
            "adelie",
            "adelie",
            "ridge_cv",
            layout="F",
            tolerances=DECADES,
            note="grpnet per fold; cv_grpnet takes no path",
        ),
    },
    "ridge_fit": {
        "tikhon": Library("tikhon, one fit", "tikhon", "ridge_fit"),
        "sklearn": Library("scikit-learn Ridge", "sklearn", "ridge_fit"),
    },
    "lasso_cv": {
        "tikhon": Library("tikhon", "tikhon", "lasso_cv", note=CERTIFIED),
        "sklearn": Library(
            "scikit-learn LassoCV", "sklearn", "lasso_cv", layout="F", tolerances=FROM, note=CHOICE
        ),
        "glmnet": Library("python-glmnet", "glmnet", "lasso_cv", layout="F", tolerances=DECADES),
        "celer": Library(
            "celer LassoCV", "celer", "lasso_cv", layout="F", tolerances=FROM, note=CHOICE
        ),
        "adelie": Library(
            "adelie",
            "adelie",
            "lasso_cv",
            layout="F",
            tolerances=DECADES,
            note="grpnet per fold; cv_grpnet takes no path",
        ),
    },
    "lasso_path": {
        "tikhon": Library("tikhon", "tikhon", "lasso_path", note=CERTIFIED),
        "sklearn": Library(
            "scikit-learn lasso_path", "sklearn", "lasso_path", layout="F", tolerances=FROM
        ),
        "glmnet": Library("python-glmnet", "glmnet", "lasso_path", layout="F", tolerances=DECADES),
        "celer": Library("celer_path", "celer", "lasso_path", layout="F", tolerances=FROM),
        "skglm": Library("skglm Lasso", "skglm", "lasso_path", layout="F", tolerances=FROM),
        "adelie": Library("adelie", "adelie", "lasso_path", layout="F", tolerances=DECADES),
    },
    "group_path": {
        "tikhon": Library("tikhon", "tikhon", "group_path", note=CERTIFIED),
        "tikhon-loose": Library(
            "tikhon(tol=...)",
            "tikhon",
            "group_path",
            tolerances=FROM,
            note="as accurate as the others, and certified to that",
        ),
        "skglm": Library("skglm GroupLasso", "skglm", "group_path", layout="F", tolerances=FROM),
        "adelie": Library("adelie", "adelie", "group_path", layout="F", tolerances=DECADES),
    },
}
