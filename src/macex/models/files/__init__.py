"""Models from files, opened without running what strangers wrote."""
