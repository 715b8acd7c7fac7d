"""The page that a replica's service shows the person who runs it: plain files, and the routes they are served at."""
