"""What is asked: goals, constraints and the expressions they are written in."""
