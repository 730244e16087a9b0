"""The laws that losses and penalties obey, for the library's components and for your own."""

from tikhon.testing.catalogue import LOSSES, PENALTIES, example_losses, example_penalties
from tikhon.testing.laws import LOSS_LAWS, PENALTY_LAWS, check_loss, check_penalty

__all__ = [
    "LOSSES",
    "LOSS_LAWS",
    "PENALTIES",
    "PENALTY_LAWS",
    "check_loss",
    "check_penalty",
    "example_losses",
    "example_penalties",
]
