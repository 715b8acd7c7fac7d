"""One replica as a process that runs for long: it syncs, keeps the host's timers, and serves the API."""
