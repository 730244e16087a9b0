"""Grids of strengths and the solutions along them."""

from tikhon.paths.grid import Grid, as_grid
from tikhon.paths.solve_path import path

__all__ = ["Grid", "as_grid", "path"]
