"""The table as a page of the documentation: ``python -m tikhon.conventions > conventions.md``."""

from __future__ import annotations

from collections.abc import Iterator

from tikhon.conventions.convention import Convention
from tikhon.conventions.registry import SECTIONS

__all__ = ["page"]

_OPENING = """\
# Conventions

The library has one objective: the mean loss, the squared loss and the squared hinge halved, plus

    lam (l1_ratio ‖w‖₁ + (1 - l1_ratio) ‖w‖² / 2)

with the intercept never penalised. Elsewhere the same problem is written with another number.
`to_lam` translates a number from elsewhere, `from_lam` translates back:

```python
import tikhon as tk

X, y = tk.datasets.diabetes()
strength = tk.conventions.to_lam("sklearn.Ridge", alpha=44.2, n=len(y))
problem = tk.Problem(tk.losses.Squared(), strength.penalty, strength.lam)
print(strength)
print(tk.conventions.from_lam("lecture001.ridge", lam=strength.lam))
```

```text
Strength(lam=0.1, l1_ratio=0.0)
{'lambda_': 0.05}
```

In the tables, sums and means run over the rows (weighted, if the rows have weights), `z = Xw + b`,
`n` is the sum of the weights or else the number of rows, and `y_sd` the standard deviation of the
targets; give the two where the column "also needs" asks for them. A mixture that can be chosen has
its default there in parentheses. The formulas are those that are computed.

A converted number gives the same solution if the rest of the problem is the same: columns that
are standardised there must be standardised here, and with an intercept that is penalised there
no number helps.
"""


def page() -> str:
    """Return the table of conventions in Markdown.

    Examples
    --------
    >>> "`lambda_ / n`" in page()
    True
    """
    lines = [_OPENING.rstrip("\n")]
    for heading, rows in SECTIONS:
        lines += ["", f"## {heading}", "", *_rows(rows)]
        notes = list(_notes(rows))
        lines += ["", *notes] if notes else []
    return "\n".join(lines) + "\n"


def _rows(rows: tuple[Convention, ...]) -> Iterator[str]:
    yield "| name | objective there | `lam` | `l1_ratio` | also needs |"
    yield "|---|---|---|---|---|"
    for row in rows:
        names = ", ".join(f"`{name}`" for name in row.names)
        needs = ", ".join(f"`{name}`" for name in row.needs)
        cells = (names, _code(row.objective), _code(row.lam), _ratio(row), needs)
        yield f"| {' | '.join(cells)} |"


def _ratio(row: Convention) -> str:
    mixture = row.rule.mixture
    free = mixture is not None and mixture.name is not None
    default = f" ({mixture.name} = {mixture.value:g})" if mixture is not None and free else ""
    return _code(row.l1_ratio) + default


def _notes(rows: tuple[Convention, ...]) -> Iterator[str]:
    for row in rows:
        if row.note:
            yield f"- `{row.name}`: {_typeset(row.note)}"


def _code(formula: str) -> str:
    return f"`{_typeset(formula)}`"


def _typeset(text: str) -> str:
    """Write norms without the bar, which would end a cell of the table."""
    return text.replace("||_1", "‖₁").replace("||^2", "‖²").replace("||", "‖")
