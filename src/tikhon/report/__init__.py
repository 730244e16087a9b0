"""Text and plots made from results; nothing is computed here."""

from tikhon.report import plots

__all__ = ["plots"]
