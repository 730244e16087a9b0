"""Learning theory that runs: bounds with their assumptions, stability, SRM, MDL, priors.

    bounds          the inequalities, as functions of a few numbers
    constants       rho, beta and C of a loss on a table
    report          every bound that applies to a fitted model, beside its errors
    stability       replace-one stability, measured beside its bound; stability_identity

Each is a function of a problem or a fitted model, and of the data. The room stands below selection,
whose rules "srm" and "mdl" minimise two of the bounds.
"""

from tikhon.theory import bounds
from tikhon.theory.bounds import Assumption, Bound
from tikhon.theory.constants import Constants, constants
from tikhon.theory.replace_one import Identity, Stability, stability, stability_identity
from tikhon.theory.reporting import Report, report

__all__ = [
    "Assumption",
    "Bound",
    "Constants",
    "Identity",
    "Report",
    "Stability",
    "bounds",
    "constants",
    "report",
    "stability",
    "stability_identity",
]
