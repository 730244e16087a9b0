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
    TurnedGroups,
    column_path,
    gram_path,
    group_columns,
    group_descent,
)
from tikhon._kernels.processor import instruction_set, limit_instruction_set, thread_count
from tikhon._kernels.support_vectors import (
    KERNEL_KINDS,
    OUT_OF_STEPS,
    DualPath,
    DualProblem,
    KernelFunction,
    KernelRows,
    SharedRows,
    SmoPath,
    called_kernel_rows,
    dual_descent,
    kernel_rows,
    smo_path,
    stored_kernel_rows,
)
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
    "KERNEL_KINDS",
    "OUT_OF_STEPS",
    "STALLED",
    "STOPPED",
    "Batches",
    "ColumnPath",
    "ColumnProblem",
    "ColumnScan",
    "DualPath",
    "DualProblem",
    "GramPath",
    "GroupBlocks",
    "KernelFunction",
    "KernelRows",
    "SharedRows",
    "SmoPath",
    "Stop",
    "SweepColumns",
    "TurnedGroups",
    "called_kernel_rows",
    "column_path",
    "correlate_dd",
    "cyclic_sweep",
    "dual_descent",
    "gather",
    "gram_path",
    "group_columns",
    "group_descent",
    "hash_rows",
    "instruction_set",
    "kernel_rows",
    "limit_instruction_set",
    "residual_dd",
    "scan",
    "smo_path",
    "stochastic_pass",
    "stored_kernel_rows",
    "thread_count",
]
