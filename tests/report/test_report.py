"""Plots and the summary read results and draw what they say."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import tikhon as tk
from tikhon.datasets import DIABETES_FEATURES
from tikhon.report.summary import summary

mpl.use("Agg")


@pytest.fixture(scope="module")
def model():
    return tk.Ridge().fit(*tk.datasets.diabetes())


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_a_path_is_drawn_with_every_coefficient(model):
    axes = model.path_.plot()
    lines = [line for line in axes.lines if len(line.get_xdata()) == 100]
    assert len(lines) == 10
    drawn = {tuple(np.asarray(line.get_ydata())) for line in lines}
    assert drawn == {tuple(column) for column in model.path_.coefs.T}
    assert (axes.get_xscale(), axes.get_ylabel()) == ("log", "coefficient")


def test_a_study_is_drawn_with_both_choices(model):
    axes = model.study_.plot()
    marks = {line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2}
    assert {model.study_.lam("min"), model.study_.lam("1se")} <= marks
    assert axes.get_ylabel() == "held-out squared error"


def test_the_rule_of_a_study_is_drawn_and_named_as_well():
    model = tk.Ridge(rule="bic").fit(*tk.datasets.diabetes())
    axes = model.study_.plot()
    marks = {line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2}
    assert marks == {model.study_.lam(rule) for rule in ("min", "1se", "bic")}
    assert f"bic: lam = {model.lam_:.3g}" in [text.get_text().strip() for text in axes.texts]
    text = summary(model, "Diabetes", DIABETES_FEATURES)
    assert "<- bic" in text
    assert f"{model.study_.mean[model.study_.index('bic')]:.6g} +- " in text
    for other in model.study_.criteria(("min", "1se", "aic", "ebic")):
        assert f"by {other.rule:<13}lam = {other.lam:.4g}, {other.df:.1f} degrees" in text


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_plots_are_readable_on_light_and_dark(model, style):
    """Every line and every word stands out from the paper it is drawn on."""
    from matplotlib.colors import to_rgb

    def lightness(colour):
        return np.dot(to_rgb(colour), [0.299, 0.587, 0.114])

    with mpl.style.context(style):
        for axes in (model.path_.plot(), model.study_.plot()):
            paper = lightness(axes.get_facecolor())
            strong = [line for line in axes.lines if (line.get_alpha() or 1.0) == 1.0]
            drawn = [line.get_color() for line in strong] + [t.get_color() for t in axes.texts]
            assert min(abs(lightness(colour) - paper) for colour in drawn) > 0.2


def test_degrees_of_freedom_stand_above(model):
    axes = model.path_.plot()
    (above,) = axes.child_axes
    shown = [float(text.get_text()) for text in above.get_xticklabels()]
    assert shown == sorted(shown)
    assert shown[-1] == 10


def test_a_study_without_standard_errors_is_drawn_too():
    study = tk.Ridge(folds="gcv").fit(*tk.datasets.diabetes()).study_
    assert study.plot().get_ylabel() == "GCV squared error"


@pytest.mark.parametrize("folds", ["gcv", "loo", tk.folds.Time(1)], ids=str)
def test_studies_without_folds_are_summarised_too(folds):
    model = tk.Ridge(folds=folds).fit(*tk.datasets.diabetes())
    assert "<- min" in summary(model, "Diabetes", DIABETES_FEATURES)


def test_a_path_too_short_to_draw_says_so():
    with pytest.raises(tk.UnsupportedError, match="two positive strengths"):
        tk.Ridge(lam=1.0).fit(*tk.datasets.diabetes()).path_.plot()


def test_long_results_have_short_representations(model):
    assert repr(model.path_).startswith("Path(100 strengths from ")
    assert repr(model.study_).startswith("Study(100 strengths, 10 folds, best squared_error ")


def test_the_summary_says_what_the_model_holds(model):
    text = summary(model, "Diabetes", DIABETES_FEATURES)
    assert f"lam = {model.lam_:.4g}" in text
    assert f"{model.certificate_.gap:.1e}" in text
    assert "<- 1se" in text
    assert all(name in text for name in DIABETES_FEATURES)
    assert max(map(len, text.splitlines())) <= 100
