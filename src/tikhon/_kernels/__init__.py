"""The one door to compiled code.

Each function checks what it is given, allocates what it returns and calls `tikhon._native`, which
checks nothing but types. Matrices are dense, float32 or float64, of any non-negative strides, and
are never copied. Results are bitwise the same for any number of threads; the interpreter is free
for other Python threads while a kernel runs.

The formulas stand with the C++ headers in `native/include/tikhon`.
"""

from tikhon._kernels.descent import (
    CONVERGED,
    STALLED,
    STOPPED,
    ColumnPath,
    ColumnProblem,
    GramPath,
    GroupBlocks,
    Stop,
    column_path,
    gram_path,
    group_descent,
)
from tikhon._kernels.processor import instruction_set, limit_instruction_set, thread_count
from tikhon._kernels.tables import (
    ColumnScan,
    correlate_dd,
    gather,
    hash_rows,
    residual_dd,
    scan,
)
from tikhon._kernels.textbook import Batches, SweepColumns, cyclic_sweep, stochastic_pass

__all__ = [
    "CONVERGED",
    "STALLED",
    "STOPPED",
    "Batches",
    "ColumnPath",
    "ColumnProblem",
    "ColumnScan",
    "GramPath",
    "GroupBlocks",
    "Stop",
    "SweepColumns",
    "column_path",
    "correlate_dd",
    "cyclic_sweep",
    "gather",
    "gram_path",
    "group_descent",
    "hash_rows",
    "instruction_set",
    "limit_instruction_set",
    "residual_dd",
    "scan",
    "stochastic_pass",
    "thread_count",
]
