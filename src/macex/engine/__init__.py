"""The four stages joined: one batch of rows from codes to checked answers."""
