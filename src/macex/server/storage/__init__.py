"""What survives a restart: keys, jobs and their finished parts, audit records, saved views."""
