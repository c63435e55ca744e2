"""The experiments: each says which tasks it needs, how one is measured, and what they show."""
