"""A project's first page: the model at a glance."""
