"""Penalties as priors: natural units, posteriors, evidence, and the Bayesian lasso.

Normal, Laplace      priors, and the strengths they stand for
ridge_posterior      mean, covariance, intervals; noise and prior by the greatest evidence
log_evidence         of a strength, from a spectrum
bayesian_lasso       draws under Laplace priors, with their diagnostics
plot_two             prior, likelihood and posterior of two coefficients
"""

from tikhon.theory.priors.diagnostics import effective_sample_size, split_rhat
from tikhon.theory.priors.drawing import TwoCoefficients, plot_two, two_coefficients
from tikhon.theory.priors.families import Laplace, Normal
from tikhon.theory.priors.gibbs import Draws, bayesian_lasso
from tikhon.theory.priors.posterior import Posterior, log_evidence, noise_for, ridge_posterior

__all__ = [
    "Draws",
    "Laplace",
    "Normal",
    "Posterior",
    "TwoCoefficients",
    "bayesian_lasso",
    "effective_sample_size",
    "log_evidence",
    "noise_for",
    "plot_two",
    "ridge_posterior",
    "split_rhat",
    "two_coefficients",
]
