"""Learning theory that runs: bounds with their assumptions, stability, SRM, MDL, priors.

    bounds          the inequalities, as functions of a few numbers
    constants       rho, beta and C of a loss on a table
    report          every bound that applies to a fitted model, beside its errors
    encode, decode  linear models in a prefix-free code
    polynomial_degrees  a polynomial's degree by SRM, MDL, leave-one-out, AIC and BIC
    NestedClasses   classes of one's own for structural risk minimisation
    bias_variance   noise, squared bias and variance along a path; bootstrap_variance on real data
    priors          penalties as priors: posteriors, evidence, the Bayesian lasso
    stability       replace-one stability, measured beside its bound; stability_identity

Each is a function of a problem or a fitted model, and of the data. The room stands below selection,
whose rules "srm" and "mdl" minimise two of the bounds.
"""

from tikhon.theory import bounds, priors
from tikhon.theory.bounds import Assumption, Bound
from tikhon.theory.classes import Classes, NestedClasses
from tikhon.theory.code import Code, decode, encode
from tikhon.theory.constants import Constants, constants
from tikhon.theory.decomposition import (
    BiasVariance,
    BootstrapVariance,
    bias_variance,
    bootstrap_variance,
)
from tikhon.theory.degrees import Degrees, polynomial_degrees
from tikhon.theory.replace_one import Identity, Stability, stability, stability_identity
from tikhon.theory.reporting import Report, report
from tikhon.theory.simulator import Simulator

__all__ = [
    "Assumption",
    "BiasVariance",
    "BootstrapVariance",
    "Bound",
    "Classes",
    "Code",
    "Constants",
    "Degrees",
    "Identity",
    "NestedClasses",
    "Report",
    "Simulator",
    "Stability",
    "bias_variance",
    "bootstrap_variance",
    "bounds",
    "constants",
    "decode",
    "encode",
    "polynomial_degrees",
    "priors",
    "report",
    "stability",
    "stability_identity",
]
