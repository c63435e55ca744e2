"""A table with structure: a total that is a product, and services that exclude each other."""

from __future__ import annotations

import numpy as np
import pandas as pd


def shop(count: int, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    line = draw.choice(["fibre", "cable", "none"], count)
    chosen = {
        name: np.where(line == "none", "no line", draw.choice(["yes", "no"], count))
        for name in ("backup", "films", "support")
    }
    months = draw.integers(1, 73, count)
    services = sum((chosen[name] == "yes") * 8.0 for name in chosen)
    price = 20 + 25.0 * (line == "fibre") + 10 * (line == "cable") + services
    price = np.round(price + draw.normal(0, 1, count), 1)
    total = np.round(months * price * draw.uniform(0.98, 1.02, count), 1)
    return pd.DataFrame(
        {
            "age": draw.integers(18, 90, count),
            "total": total,
            "line": line,
            **chosen,
            "price": price,
            "months": months.astype(float),
            "town": draw.choice(list("abcdefgh"), count),
        }
    )
