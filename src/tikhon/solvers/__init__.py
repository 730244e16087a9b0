"""Algorithms. The fast ones are chosen by `tk.solve` itself; these are chosen by name.

    tk.solve(problem, X, y, solver=tk.solvers.GradientDescent(step=0.1))

They are the algorithms of the lectures, faithful to the page, with a trace of objective, certified
gap, time and sweeps over the data in `Solution.history`.
"""

from tikhon.solvers.proximal_gradient import ProximalGradient
from tikhon.solvers.task import Solver, Task
from tikhon.solvers.textbook import schedules
from tikhon.solvers.textbook.coordinate_descent import CyclicCoordinateDescent
from tikhon.solvers.textbook.gradient_descent import GradientDescent
from tikhon.solvers.textbook.newton import Newton
from tikhon.solvers.textbook.pegasos import Pegasos, pegasos_bound
from tikhon.solvers.textbook.splitting import QuadraticPenaltySplitting
from tikhon.solvers.textbook.stochastic import StochasticGradientDescent
from tikhon.solvers.textbook.stochastic_state import StochasticState

__all__ = [
    "CyclicCoordinateDescent",
    "GradientDescent",
    "Newton",
    "Pegasos",
    "ProximalGradient",
    "QuadraticPenaltySplitting",
    "Solver",
    "StochasticGradientDescent",
    "StochasticState",
    "Task",
    "pegasos_bound",
    "schedules",
]
