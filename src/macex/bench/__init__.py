"""What `python -m macex.bench` prints: how good the answers are, and what they cost."""
