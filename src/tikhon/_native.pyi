from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Float: TypeAlias = NDArray[np.floating[Any]]
_Float64: TypeAlias = NDArray[np.float64]

def scan(
    X: _Float,
    sums: _Float64,
    minimum: _Float64,
    maximum: _Float64,
    nonfinite: NDArray[np.int64],
    threads: int,
) -> None: ...
def gather(
    X: _Float,
    index: NDArray[np.int64] | None,
    start: int,
    shift: _Float64 | None,
    column_scale: _Float64 | None,
    scale: _Float64 | None,
    out: _Float64,
    threads: int,
) -> None: ...
def residual_dd(
    X: _Float,
    shift: _Float64 | None,
    y: _Float64,
    w_hi: _Float64,
    w_lo: _Float64,
    b_hi: float,
    b_lo: float,
    r_hi: _Float64,
    r_lo: _Float64,
    threads: int,
) -> None: ...
def correlate_dd(
    X: _Float,
    shift: _Float64 | None,
    s: _Float64 | None,
    r_hi: _Float64,
    r_lo: _Float64,
    g_hi: _Float64,
    g_lo: _Float64,
    threads: int,
) -> tuple[float, float]: ...
def hash_rows(
    X: _Float, exponent: NDArray[np.int32] | None, hashes: NDArray[np.uint64], threads: int
) -> None: ...
def hash_compressed_rows(
    values: _Float,
    indices: NDArray[np.signedinteger[Any]],
    starts: NDArray[np.signedinteger[Any]],
    columns: int,
    exponent: NDArray[np.int32] | None,
    hashes: NDArray[np.uint64],
    threads: int,
) -> None: ...
def isa() -> str: ...
def limit_isa(highest: str) -> None: ...

class Stop:
    def __init__(self, seconds: float) -> None: ...
    def request(self) -> None: ...
    @property
    def requested(self) -> bool: ...
    @property
    def late(self) -> bool: ...

def gram_path(
    K: _Float64,
    c: _Float64,
    l1: _Float64,
    l2: _Float64,
    lower: _Float64,
    upper: _Float64,
    lams: _Float64,
    relative: float,
    absolute: float,
    w: _Float64,
    out: _Float64,
    status: NDArray[np.intc],
    stop: Stop,
) -> int: ...
def sparse_column_path(
    values: _Float,
    rows: NDArray[np.signedinteger[Any]],
    starts: NDArray[np.signedinteger[Any]],
    p: _Float64,
    y: _Float64,
    mean: _Float64,
    unit: _Float64,
    l1: _Float64,
    l2: _Float64,
    lower: _Float64,
    upper: _Float64,
    lams: _Float64,
    gap: float,
    w: _Float64,
    threads: int,
    stop: Stop,
) -> tuple[NDArray[np.int64], NDArray[np.int64], _Float64, NDArray[np.intc], int]: ...
def dense_column_path(
    values: _Float,
    shift: _Float64,
    p: _Float64,
    y: _Float64,
    mean: _Float64,
    unit: _Float64,
    l1: _Float64,
    l2: _Float64,
    lower: _Float64,
    upper: _Float64,
    lams: _Float64,
    gap: float,
    w: _Float64,
    threads: int,
    stop: Stop,
) -> tuple[NDArray[np.int64], NDArray[np.int64], _Float64, NDArray[np.intc], int]: ...
def group_columns(
    A: _Float,
    starts: NDArray[np.int64],
    weight: _Float64,
    square: _Float64,
    chosen: NDArray[np.int64],
    lam: float,
    sweeps: int,
    enough: float,
    W: _Float64,
    R: _Float64,
    stop: Stop,
) -> float: ...
def group_descent(
    K: _Float64,
    members: NDArray[np.int64],
    starts: NDArray[np.int64],
    weight: _Float64,
    curvature: _Float64,
    l1: _Float64,
    chosen: NDArray[np.int64],
    lam: float,
    sweeps: int,
    W: _Float64,
    G: _Float64,
    stop: Stop,
) -> float: ...
def sparse_cyclic_sweep(
    values: _Float,
    rows: NDArray[np.signedinteger[Any]],
    starts: NDArray[np.signedinteger[Any]],
    p: _Float64,
    mean: _Float64,
    curvature: _Float64,
    l1: _Float64,
    l2: _Float64,
    lower: _Float64,
    upper: _Float64,
    lam: float,
    first: int,
    last: int,
    w: _Float64,
    q: _Float64,
    k: float,
) -> float: ...
def dense_cyclic_sweep(
    values: _Float,
    shift: _Float64,
    p: _Float64,
    mean: _Float64,
    curvature: _Float64,
    l1: _Float64,
    l2: _Float64,
    lower: _Float64,
    upper: _Float64,
    lam: float,
    first: int,
    last: int,
    w: _Float64,
    q: _Float64,
    k: float,
) -> float: ...
def dense_stochastic_pass(
    rows: _Float64,
    y: _Float64,
    weight: _Float64 | None,
    size: int,
    shrink: _Float64,
    gain: _Float64,
    threshold: _Float64 | None,
    radius: float,
    intercept: bool,
    loss: str,
    parameter: float,
    w: _Float64,
    total: _Float64 | None,
    offset: _Float64,
    slopes: _Float64 | None,
) -> None: ...
def sparse_stochastic_pass(
    values: _Float,
    columns_of: NDArray[np.signedinteger[Any]],
    starts: NDArray[np.signedinteger[Any]],
    index: NDArray[np.int64],
    y: _Float64,
    weight: _Float64 | None,
    size: int,
    shrink: _Float64,
    gain: _Float64,
    threshold: _Float64 | None,
    radius: float,
    intercept: bool,
    loss: str,
    parameter: float,
    w: _Float64,
    total: _Float64 | None,
    offset: _Float64,
    slopes: _Float64 | None,
) -> None: ...

class KernelTable:
    @property
    def size(self) -> int: ...

class SharedRows32:
    def __init__(self, table: KernelTable) -> None: ...
    @staticmethod
    def bytes(n: int) -> int: ...

class SharedRows64:
    def __init__(self, table: KernelTable) -> None: ...
    @staticmethod
    def bytes(n: int) -> int: ...

def dense_kernel(
    X: _Float64, kind: int, gamma: float, coef0: float, degree: int, plus: float
) -> KernelTable: ...
def sparse_kernel(
    values: _Float,
    columns: NDArray[np.signedinteger[Any]],
    starts: NDArray[np.signedinteger[Any]],
    d: int,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    plus: float,
) -> KernelTable: ...
def stored_kernel(K: _Float, plus: float) -> KernelTable: ...
def called_kernel(
    rows: Callable[[int], _Float64], diagonal: _Float64, plus: float
) -> KernelTable: ...
def kernel_block(
    table: KernelTable,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    out: _Float64,
    threads: int,
) -> None: ...
def _smo_path(
    table: KernelTable,
    shared: Any,
    target: _Float64,
    lower: _Float64,
    upper: _Float64,
    tube: float,
    constrained: bool,
    strengths: _Float64,
    gap: float,
    steps: int,
    cache_bytes: int,
    threads: int,
    exact: bool,
    start: _Float64 | None,
    beta: _Float64,
    residual: _Float64,
    offsets: _Float64,
    gaps: _Float64,
    taken: NDArray[np.int64],
    status: NDArray[np.int64],
    stop: Stop,
) -> int: ...

smo_path32 = _smo_path
smo_path64 = _smo_path

def sparse_dual_descent(
    values: _Float,
    columns: NDArray[np.signedinteger[Any]],
    starts: NDArray[np.signedinteger[Any]],
    target: _Float64,
    lower: _Float64,
    upper: _Float64,
    quadratic: _Float64,
    mean: _Float64,
    tube: float,
    rho: float,
    free: bool,
    strengths: _Float64,
    gap: float,
    sweeps: int,
    patience: int,
    start: _Float64 | None,
    beta: _Float64,
    w: _Float64,
    outcomes: _Float64,
    stop: Stop,
) -> int: ...
def dense_dual_descent(
    values: _Float,
    shift: _Float64,
    target: _Float64,
    lower: _Float64,
    upper: _Float64,
    quadratic: _Float64,
    mean: _Float64,
    tube: float,
    rho: float,
    free: bool,
    strengths: _Float64,
    gap: float,
    sweeps: int,
    patience: int,
    start: _Float64 | None,
    beta: _Float64,
    w: _Float64,
    outcomes: _Float64,
    stop: Stop,
) -> int: ...
