"""Every kind of table the library takes, made from one matrix: laws are crossed over these."""

import numpy as np
import scipy.sparse as sp

from tikhon.data import as_design


def _strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _csr64(X):
    made = sp.csr_array(X)
    made.indices = made.indices.astype(np.int64)
    made.indptr = made.indptr.astype(np.int64)
    return made


KINDS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": _strided,
    "reversed": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "list": lambda X: X.tolist(),
    "object": lambda X: X.astype(object),
    "CSR": sp.csr_array,
    "CSC": sp.csc_array,
    "CSR, 64-bit": _csr64,
    "CSC matrix": sp.csc_matrix,
    "COO": sp.coo_array,
}

DESIGNS = {name: (lambda X, make=make: as_design(make(X))) for name, make in KINDS.items()}
