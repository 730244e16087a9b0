"""The objective, and everything that can be said about a candidate solution of it."""

from tikhon.problem.problem import Problem

__all__ = ["Problem"]
