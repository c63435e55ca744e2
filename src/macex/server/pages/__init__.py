"""The pages of the server, one file a noun."""
