"""More columns than rows: ridge, its leave-one-out curve, and three names for one strength."""

import numpy as np

import tikhon as tk

data = tk.datasets.linear(120, 3000, nonzero=60, correlation=0.9, snr=0.5, seed=1)

interpolant = tk.LinearRegression().fit(data.X, data.y)
print("least squares:", interpolant.status_)

model = tk.Ridge(folds="loo").fit(data.X, data.y)
spectrum, lam = model.spectrum_, model.lam_
fresh = tk.datasets.linear(1000, 3000, nonzero=60, correlation=0.9, snr=0.5, seed=1)
truth = fresh.X @ data.coef + data.intercept
for name, fit in (("least squares", interpolant), ("ridge", model)):
    error = np.mean((fit.predict(fresh.X) - truth) ** 2) / truth.var()
    print(f"{name:<14} error of the function, relative to its variance: {error:.2f}")

print(f"\nlam = {lam:.3f}, by exact leave-one-out over {len(model.path_)} strengths")
print(f"  norm of the coefficients   {spectrum.norm(lam):.3f}")
print(f"  degrees of freedom         {spectrum.df(lam):.1f} of {spectrum.rank}")
print(f"  prior standard deviation   {spectrum.prior_sd(lam):.4f}")
print(f"  certificate                relative gap {model.certificate_.gap:.0e}")
print(f"  plan                       {model.study_.solver}")
