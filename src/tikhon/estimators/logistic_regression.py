"""Logistic regression for two classes and more, its strength chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from tikhon.data.coerce import Data
from tikhon.data.labels import label_text
from tikhon.errors import UnsupportedError
from tikhon.estimators.classifier import LinearClassifier
from tikhon.estimators.decompose import one_vs_rest
from tikhon.estimators.penalised import Penalised
from tikhon.estimators.penalty import as_penalty
from tikhon.losses import Logistic, Multinomial
from tikhon.losses.base import Loss
from tikhon.numerics import expit, log1pexp, logit
from tikhon.paths.grid import Grid
from tikhon.penalties.base import Penalty
from tikhon.selection.binary import BinaryPredictions
from tikhon.selection.calibration import Calibration
from tikhon.selection.rules import Rule
from tikhon.selection.thresholds import Threshold, ThresholdRule
from tikhon.typing import Float64Array

__all__ = ["LogisticRegression"]


class LogisticRegression(Penalised, LinearClassifier):
    """Logistic regression, ``min mean -log p(y | x) + lam R(w)``.

    With two classes ``p(classes_[1] | x) = 1 / (1 + exp(-z))``, ``z = x . w + b`` the log-odds.
    With more, ``p(k | x) = exp(z_k) / sum_j exp(z_j)``. The intercept is never penalised.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        "cv" tries 100 strengths, a `Grid` tries its own; a number is the strength. scikit-learn's
        ``LogisticRegression(C)`` is ``lam = 1 / (C n)`` with standardize=False.
    penalty : {"l2", "l1", "elastic_net"} or one of `tk.penalties`, default "l2"
        "elastic_net" mixes equal parts; ``tk.penalties.ElasticNet(l1_ratio)`` has any mixture.
    multi_class : {"softmax", "ovr"}, default "softmax"
        More than two classes in one model, or each against the rest, with a strength of its own.
    class_weight : "balanced" or dict, optional
        Multiplies the weights of the rows of a class. Decisions follow the weights, probabilities
        do not: see `predict_proba`.
    folds : int, one of `tk.folds`, fold numbers, or pairs, optional
        Stratified; 10 by default, fewer where there are few rows.
    rule : str or rule, default "min"
        "min", "1se", "2se", ..., "aic", "bic", "ebic".
    scoring : str, Score or callable, optional
        "deviance" (default), "log_loss", "accuracy", "balanced_accuracy", "auc", "brier", "f1",
        "precision", "recall", a `tk.Score`, or a cost function of (y, probabilities).
    nested : bool or int, default False
        Cross-validate the choice itself: the honest score is `study_.nested`.
    standardize : bool, default True
        Penalise coefficients of columns scaled to unit (1/n) standard deviation, within each
        fold; coefficients are always returned on the scale of X.
    fit_intercept : bool, default True
    tol : float, default 1e-8
        Largest relative duality gap that counts as converged.
    max_seconds : float, optional
        After this time the strengths solved so far are all there is.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) for two classes, (K, d) for more
    intercept_ : ndarray of shape (1,) or (K,)
    classes_ : ndarray of shape (K,)
    class_weight_ : ndarray of shape (K,)
        The factor of each class.
    intercept_correction_ : float or ndarray of shape (K,)
        What takes the class weights out of the log-odds again.
    threshold_ : float
        Two classes: a row is ``classes_[1]`` if its probability exceeds this. It can be set.
    lam_ : float; ndarray of shape (K,) for "ovr"
    lam_1se_ : float
        The 1-SE choice, shown beside the one made; nan where there is no study.
    path_ : Path
    study_ : Study or None
        Scores of the grid; `study_.choose(rule)` applies another rule without fitting again.
    models_ : tuple of LogisticRegression
        For "ovr" only, in place of `path_` and `study_`: the model of each class.
    df_ : float
        Effective degrees of freedom.
    certificate_ : Certificate
    status_ : Status
    solver_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> model = tk.LogisticRegression(folds=5).fit(X, y > 150)
    >>> model.status_ == "converged", model.certificate_.gap < 1e-8
    (True, True)
    >>> bool(model.study_.lam("1se") >= model.lam_)
    True
    """

    intercept_correction_: float | Float64Array
    lam_: Any
    lam_1se_: Any

    def __init__(
        self,
        lam: float | str | Grid = "cv",
        *,
        penalty: str | Penalty = "l2",
        multi_class: str = "softmax",
        class_weight: Any = None,
        folds: Any = None,
        rule: str | Rule = "min",
        scoring: Any = None,
        nested: bool | int = False,
        standardize: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_seconds: float | None = None,
    ) -> None:
        self.lam = lam
        self.penalty = penalty
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.folds = folds
        self.rule = rule
        self.scoring = scoring
        self.nested = nested
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_seconds = max_seconds

    @property
    def _loss(self) -> Loss:
        return Logistic() if len(self.classes_) == 2 else Multinomial()

    def _penalty(self, data: Data) -> Penalty:  # noqa: ARG002
        return as_penalty(self.penalty)

    def _fold_rule(self, data: Data) -> Any:
        return self._folds(self.folds, data)

    def _fit_checked(self, data: Data) -> None:
        as_penalty(self.penalty)
        if self.multi_class not in ("softmax", "ovr"):
            raise ValueError(f"`multi_class` must be 'softmax' or 'ovr', got {self.multi_class!r}.")
        self._cut = 0.0
        log_weight = np.log(self.class_weight_)
        two = len(self.classes_) == 2
        self.intercept_correction_ = float(log_weight[0] - log_weight[1]) if two else -log_weight
        if two or self.multi_class == "softmax":
            super()._fit_checked(data)
        else:
            self._fit_each(data)

    def _fit_each(self, data: Data) -> None:
        """Fit one model for each class against the rest."""
        models = []
        for k in range(len(self.classes_)):
            model = clone(self).set_params(multi_class="softmax", class_weight=None)
            model.classes_, model.class_weight_ = np.array([False, True]), np.ones(2)
            model.n_features_in_ = self.n_features_in_
            model._fit_checked(one_vs_rest(data, k))  # noqa: SLF001
            models.append(model)
        self.models_ = tuple(models)
        self.lam_ = np.array([model.lam_ for model in models])
        self.lam_1se_ = np.array([model.lam_1se_ for model in models])
        self.intercept_correction_ = np.zeros(len(models))
        self.coef_ = np.vstack([model.coef_ for model in models])
        self.intercept_ = np.concatenate([model.intercept_ for model in models])
        self.solver_ = models[0].solver_
        self.certificate_ = max((m.certificate_ for m in models), key=lambda c: c.gap)
        self.status_ = next((m.status_ for m in models if not m.status_.ok), models[0].status_)

    @property
    def _each(self) -> bool:
        """Whether the classes have a model each."""
        return len(self.classes_) > 2 and self.multi_class == "ovr"

    def _chosen(self, decisions: Float64Array) -> Any:
        if decisions.ndim == 1:
            return (decisions > self._cut).astype(np.int64)
        return super()._chosen(decisions)

    @property
    def threshold_(self) -> float:
        """Two classes: the probability above which a row is ``classes_[1]``."""
        self._two_classes("threshold_")
        return float(expit(np.array(self._cut + self._shift)))

    @threshold_.setter
    def threshold_(self, value: float) -> None:
        self._two_classes("threshold_")
        if not 0 <= value <= 1:
            raise ValueError(f"`threshold_` must be a probability, got {value}.")
        self._cut = float(logit(np.array(float(value)))) - self._shift

    @property
    def _shift(self) -> float:
        """The correction of the log-odds of two classes."""
        return float(np.asarray(self.intercept_correction_))

    def _two_classes(self, name: str) -> None:
        if len(self.classes_) != 2:
            raise UnsupportedError(
                f"`{name}` is for two classes, and there are {len(self.classes_)}: the largest "
                "probability decides. Use `class_weight` to make some errors cost more."
            )

    def predict_proba(self, X: Any, *, weighted: bool = False) -> Float64Array:
        """Return the probability of each class.

        They refer to the frequencies of the classes among the rows as they were given: class
        weights shift the log-odds by a constant, and it is taken out again
        (`intercept_correction_`). So with class weights the most probable class need not be the
        predicted one, which follows the weights. (Models of one class against the rest have no
        such constant: with "ovr" the probabilities are those of the weighted rows.)

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        weighted : bool, default False
            Return the probabilities among the weighted rows instead.

        Returns
        -------
        ndarray of shape (n, K), rows summing to 1, columns in the order of `classes_`
        """
        return np.exp(self.predict_log_proba(X, weighted=weighted))

    def predict_log_proba(self, X: Any, *, weighted: bool = False) -> Float64Array:
        """Return the logarithm of the probability of each class, without under- or overflow.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        weighted : bool, default False
            As in `predict_proba`.

        Returns
        -------
        ndarray of shape (n, K)
        """
        z = self.decision_function(X)
        return self._log_proba(z if weighted else z + self.intercept_correction_)

    def _log_proba(self, z: Float64Array) -> Float64Array:
        if z.ndim == 1:
            return np.asarray(-np.column_stack([log1pexp(z), log1pexp(-z)]))
        if self._each:
            z = np.asarray(-log1pexp(-z))  # log p of each class against the rest, then normalised
        loss, count = Multinomial(), len(self.classes_)
        return np.column_stack([-loss.value(np.full(len(z), k), z) for k in range(count)])

    def log_odds(self, X: Any) -> Float64Array:
        """Return the log-odds ``log(p / (1 - p))`` of ``classes_[1]``, or of each class.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) for two classes, (n, K) for more
        """
        z = self.decision_function(X) + self.intercept_correction_
        return z if z.ndim == 1 else _against_the_rest(self._log_proba(z))

    def odds_ratios(self, *, reference: Any = None) -> Float64Array:
        """Return by what factor one unit of each column multiplies the odds.

        Parameters
        ----------
        reference : label, optional
            More than two classes: the class that the odds are against; ``classes_[0]`` by default.

        Returns
        -------
        ndarray of shape (d,) for two classes, (K, d) for more
        """
        if len(self.classes_) == 2 and reference is None:
            return np.asarray(np.exp(self.coef_[0]))
        if self._each:
            raise UnsupportedError(
                "models of one class against the rest have no common reference; "
                "use `odds_ratios` of each of `models_`."
            )
        if len(self.classes_) == 2:
            return np.asarray(
                np.exp(self.coef_[0] * (1.0 if self._place(reference) == 0 else -1.0))
            )
        at = 0 if reference is None else self._place(reference)
        return np.asarray(np.exp(self.coef_ - self.coef_[at]))

    def _place(self, label: Any) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if not found.size:
            known = ", ".join(label_text(c) for c in self.classes_[:10])
            raise ValueError(f"{label_text(label)} is none of the classes, {known}.")
        return int(found[0])

    def held_out(self, label: Any = None) -> BinaryPredictions:
        """Return the held-out predictions of every tested row at the chosen strength.

        Each row is predicted by a model of the folds it is not in; probabilities refer to the
        frequencies of the classes as they were given.

        Parameters
        ----------
        label : optional
            The class whose probabilities are meant: ``classes_[1]`` of two by default.

        Returns
        -------
        BinaryPredictions
        """
        if self._each:
            raise UnsupportedError("with 'ovr', use `held_out` of one of `models_`.")
        if self.study_ is None:
            raise UnsupportedError(
                f"lam={self.lam!r} was given, so nothing was held out; use lam='cv' or a tk.Grid."
            )
        if label is None:
            self._two_classes("held_out()")
        at = 1 if label is None else self._place(label)
        found = self.study_.held_out(self.lam_)
        z = found.z + self.intercept_correction_
        codes = (found.y > 0).astype(np.int64) if z.ndim == 1 else found.y.astype(np.int64)
        if z.ndim == 1:
            odds = z if at == 1 else -z
        else:
            odds = _against_the_rest(self._log_proba(z))[:, at]
        weights = found.s / self.class_weight_[codes]
        return BinaryPredictions(odds, codes == at, weights, label_text(self.classes_[at]))

    def calibration(self, bins: int = 10, *, label: Any = None) -> Calibration:
        """Compare held-out probabilities with frequencies.

        Parameters
        ----------
        bins : int, default 10
        label : optional
            As in `held_out`.

        Returns
        -------
        Calibration
        """
        return self.held_out(label).calibration(bins)

    def choose_threshold(self, rule: ThresholdRule) -> Threshold:
        """Choose the decision threshold on held-out predictions, and use it from now on.

        Parameters
        ----------
        rule : one of `tk.thresholds`
            ``Cost(false_positive, false_negative)``, ``Precision(at_least)``,
            ``Recall(at_least)``, ``F1()``, ``Youden()``.

        Returns
        -------
        Threshold
            Its value, now `threshold_`, and what it does on the held-out rows.
        """
        self._two_classes("choose_threshold")
        chosen = self.held_out().threshold(rule)
        self._cut = chosen.log_odds - self._shift
        return chosen


def _against_the_rest(log_p: Float64Array) -> Float64Array:
    """``log(p_k / (1 - p_k))``, the complement summed from the other classes: (n, K)."""
    count = log_p.shape[1]
    odds = np.empty_like(log_p)
    for k in range(count):
        others = np.delete(log_p, k, axis=1)
        top = others.max(axis=1)
        safe = np.where(np.isfinite(top), top, 0.0)
        rest = np.exp(others - safe[:, None]).sum(axis=1)
        with np.errstate(divide="ignore"):  # all others impossible: infinite odds
            odds[:, k] = log_p[:, k] - safe - np.log(rest)
    return odds
