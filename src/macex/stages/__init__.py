"""The paper's four stages as array code whose first axis is the query.

    1 candidates   which columns, which values            neighbors.py, candidates.py
    2 search       which of them to combine               search/
    3 selection    near, plausible and diverse ones       selection.py
    4 finetune     numbers moved back toward the query    finetune/

Stages know codes and verdicts; they know no frames and no model library.
"""
