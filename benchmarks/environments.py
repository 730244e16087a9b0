"""A virtual environment per rival, with pinned versions, under ``.venvs/`` at the root.

Pins clash between rivals (adelie needs numpy < 2), hence one environment each. All wheels exist
for CPython 3.11; run the benchmark with that version. tikhon is measured in the environment the
benchmark itself runs in.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "sklearn": ("scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "glmnet": ("python-glmnet==2.6.1", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "celer": ("celer==0.7.4", "scikit-learn==1.7.2", "numpy==2.4.6", "scipy==1.17.1"),
    "skglm": (
        "skglm==0.5",
        "numba==0.68.1",
        "scikit-learn==1.9.1",
        "numpy==2.4.6",
        "scipy==1.17.1",
    ),
    "adelie": ("adelie==1.1.52", "scikit-learn==1.9.1", "numpy==1.26.4", "scipy==1.17.1"),
}


def interpreter(name: str) -> Path:
    """Python of the environment `name`, which is made or remade when its pins changed.

    Raises
    ------
    RuntimeError
        When the environment cannot be made; the message ends with what pip said.
    """
    if name not in REQUIREMENTS:
        return Path(sys.executable)
    home = ROOT / ".venvs" / name
    python = home / "bin" / "python"
    # Written last, so a half-made environment is never taken for a good one.
    stamp = home / "benchmark-requirements.txt"
    wanted = "\n".join(
        (f"python {sys.version_info.major}.{sys.version_info.minor}", *REQUIREMENTS[name])
    )
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    _run([sys.executable, "-m", "venv", "--clear", str(home)], name)
    _run([str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS[name]], name)
    stamp.write_text(wanted)
    return python


def _run(command: list[str], name: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        said = (result.stderr or result.stdout).strip().splitlines()
        errors = [line for line in said if "error" in line.lower()] or said
        raise RuntimeError(f"environment {name!r} could not be made: {' | '.join(errors[-3:])}")


if __name__ == "__main__":
    for each in sys.argv[1:] or REQUIREMENTS:
        print(each, interpreter(each))
