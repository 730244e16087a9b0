"""One file per library: `task(problem, threads, tolerance) -> Outcome`.

An adapter prepares the arguments first (splits, strengths in the library's convention, wrappers
around arrays) and times the fit alone. `PACKAGES` names the distributions whose versions matter.
"""
