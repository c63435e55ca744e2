"""Questions about many rows: asked in parts, one after the other, and to be continued."""
