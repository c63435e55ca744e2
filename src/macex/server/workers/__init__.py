"""Models of projects in processes of their own: a question goes in, numbers come out."""
