"""The engine's yardstick: its answers beside the optimum and beside other tools, and its cost."""
