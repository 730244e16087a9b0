"""One verb, `map_units`: apply a function to independent units of work."""

from tikhon.engine.local import map_units, one_blas_thread

__all__ = ["map_units", "one_blas_thread"]
