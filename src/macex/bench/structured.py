"""Three made-up tables whose columns hang together: customers, loans and patients.

Totals are products, instalments follow from amounts, rates and terms, services exclude each other.
The label follows from a few columns and chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.random import Generator

from macex.datasets import Dataset
from macex.schema import Array

Made = tuple[dict[str, Array], Array]


def customers(draw: Generator, count: int = 5000) -> Made:
    """Customers of a telephone company; 1 leaves. A total is months times price, roughly."""
    newer = draw.random(count) < 0.35
    months = np.where(newer, draw.geometric(0.09, count), draw.integers(1, 73, count)).clip(1, 72)
    line = draw.choice(["fibre", "cable", "none"], count, p=[0.44, 0.34, 0.22])
    phone = np.where(line == "cable", draw.random(count) < 0.75, True)
    services = {
        name: np.where(
            line == "none",
            "no line",
            np.where(draw.random(count) < 0.4 + 0.004 * (months - 30), "yes", "no"),
        )
        for name in ("security", "backup", "support", "films")
    }
    price = 25.0 * (line != "none") + 25.0 * (line == "fibre") + 20.0 * phone
    price = price + sum(7.0 * (chosen == "yes") for chosen in services.values())
    price = (price + draw.normal(0, 0.6, count)).clip(18).round(1)
    total = (months * price * (1 + draw.normal(0, 0.025, count))).round(1)
    years = draw.random(count) < 0.15 + 0.009 * months
    contract = np.where(years, np.where(months > 40, "two years", "one year"), "monthly")
    payment = draw.choice(["cheque", "transfer", "card"], count)
    leaves = -0.6 + 1.1 * (line == "fibre") - 0.9 * (line == "none") - 0.035 * months
    leaves = leaves - 1.3 * (contract == "one year") - 2.2 * (contract == "two years")
    leaves = leaves - 0.45 * (services["security"] == "yes") + 0.5 * (payment == "cheque")
    columns = {
        "months": months.astype(float),
        "phone": np.where(phone, "yes", "no"),
        "line": line,
        **services,
        "contract": contract,
        "payment": payment,
        "senior": np.where(draw.random(count) < 0.16, "yes", "no"),
        "price": price,
        "total": total,
    }
    return columns, _chance(draw, 1.3 * leaves)


def loans(draw: Generator, count: int = 4000) -> Made:
    """Applicants for a loan; 1 is refused. Instalment and burden follow from other columns."""
    age = draw.integers(20, 76, count)
    job = draw.choice(["worker", "clerk", "manager", "self", "none"], count)
    job = np.where(age >= 66, "retired", job)
    rank = 0.35 * (job == "manager") - 0.5 * (job == "none")
    income = np.exp(draw.normal(7.6, 0.35, count) + rank).round(-1)
    amount = (np.exp(draw.normal(9, 0.7, count)) * (income / 2300) ** 0.6).round(-2).clip(500)
    term = draw.choice([12, 24, 36, 48, 60, 72], count).astype(float)
    rate = (draw.normal(6.5, 1.2, count) + 0.02 * (term - 36)).clip(2.5, 14).round(1)
    monthly = rate / 1200
    instalment = (amount * monthly / (1 - (1 + monthly) ** -term)).round(0)
    burden = (instalment / income).round(3)
    debts = np.where(draw.random(count) < 0.4, 0, draw.gamma(2, 1800, count)).round(-1)
    years = np.minimum(age - 18, draw.gamma(1.6, 5, count)).round(0) * (job != "none")
    housing = np.where(age < 28, "rent", draw.choice(["rent", "own"], count))
    savings = (np.exp(draw.normal(7, 1.6, count)) * income / 2300).round(-1)
    refused = -1.4 + 7 * (burden - 0.17) + 0.00012 * debts - 0.35 * np.log1p(savings / 1000)
    refused = refused + 0.5 * (housing == "rent") - 0.05 * years - 0.02 * (age - 40)
    columns = {
        "age": age.astype(float),
        "job": job,
        "income": income,
        "amount": amount,
        "term": term,
        "rate": rate,
        "instalment": instalment,
        "burden": burden,
        "debts": debts,
        "years": years,
        "housing": housing,
        "savings": savings,
    }
    return columns, _chance(draw, refused)


def patients(draw: Generator, count: int = 3000) -> Made:
    """Patients; 1 is at risk. The index follows from weight and height, cholesterol is a sum."""
    sex, age = draw.choice(["f", "m"], count), draw.integers(18, 90, count)
    height = draw.normal(np.where(sex == "f", 166, 179), 6.5).round(0)
    weight = (draw.gamma(28, 0.95, count).clip(16, 48) * (height / 100) ** 2).round(0)
    index = (weight / (height / 100) ** 2).round(1)
    low = draw.normal(72 + 0.25 * (index - 26) + 0.08 * (age - 50), 8).round(0)
    high = np.maximum(low + 15, low + draw.gamma(9, 4, count) + 0.25 * (age - 50)).round(0)
    smokes = draw.choice(["never", "former", "current"], count, p=[0.5, 0.28, 0.22])
    packs = np.where(smokes == "never", 0, draw.gamma(2, 9, count) * age / 60).round(0)
    diabetic = draw.random(count) < 0.02 + 0.006 * (index - 22).clip(0)
    drug = np.where(diabetic, draw.choice(["insulin", "tablets"], count), "none")
    sugar = np.where(diabetic, draw.normal(165, 35, count), draw.normal(97, 11, count)).round(0)
    good, bad = draw.normal(52, 11, count).round(0), draw.normal(120, 30, count).round(0)
    risk = -2.2 + 0.05 * (age - 50) + 0.03 * (high - 125) + 0.9 * (smokes == "current")
    risk = risk + 0.015 * packs + 0.8 * diabetic + 0.012 * (bad - 120) - 0.03 * (good - 50)
    columns = {
        "sex": sex,
        "age": age.astype(float),
        "height": height,
        "weight": weight,
        "index": index,
        "systolic": high,
        "diastolic": low,
        "smoking": smokes,
        "pack_years": packs,
        "diabetes": np.where(diabetic, "yes", "no"),
        "drug": drug,
        "sugar": sugar,
        "hdl": good,
        "ldl": bad,
        "cholesterol": good + bad,
    }
    return columns, _chance(draw, risk)


TABLES: Mapping[str, Callable[[Generator], Made]] = {
    "customers": customers,
    "loans": loans,
    "patients": patients,
}


def structured(name: str) -> Dataset:
    """One of the tables by its name.

    >>> structured("customers")
    Dataset('customers', 5000 rows, 12 columns)
    """
    columns, label = TABLES[name](np.random.default_rng(0))
    frame = pd.DataFrame(columns)
    numbers = tuple(one for one in columns if columns[one].dtype.kind == "f")
    rest = tuple(one for one in columns if one not in numbers)
    frame = frame.astype(dict.fromkeys(rest, str))
    return Dataset(name, frame, label, ("good", "bad"), rest, numbers, "made by macex.bench")


def _chance(draw: Generator, odds: Array) -> Array:
    return (draw.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(np.int64)
