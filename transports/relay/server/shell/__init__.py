"""The relay's sockets: aiohttp around the rules, threads for the disk, and what whoever runs it can watch."""
