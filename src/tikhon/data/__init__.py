"""Where rows live: designs, views of them, and the one entry through which data come in."""

from tikhon.data.coerce import Data, as_data, as_design
from tikhon.data.dense import DenseDesign
from tikhon.data.design import ColumnStats, Design
from tikhon.data.moments import Moments
from tikhon.data.sparse import SparseDesign
from tikhon.data.standardized import StandardizedDesign

__all__ = [
    "ColumnStats",
    "Data",
    "DenseDesign",
    "Design",
    "Moments",
    "SparseDesign",
    "StandardizedDesign",
    "as_data",
    "as_design",
]
