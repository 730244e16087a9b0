"""Fit by adelie in the interpreter that has it: arrays come and go as an .npz file.

adelie asks for NumPy 1, the library for NumPy 2, so that they never share a process.
"""

import sys

import adelie
import numpy as np

given = np.load(sys.argv[1])
glm = getattr(adelie.glm, str(given["family"]))(given["y"])
state = adelie.grpnet(
    np.asfortranarray(given["X"]),
    glm,
    lmda_path=[float(given["lmda"])],
    alpha=float(given["alpha"]),
    tol=1e-16,
    irls_tol=1e-16,
    newton_tol=1e-16,
    adev_tol=1.0,
    early_exit=False,
    progress_bar=False,
)
np.savez(sys.argv[2], w=state.betas.toarray()[-1], b=state.intercepts[-1])
