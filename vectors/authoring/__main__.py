"""Write every file that a module here states: `python -m vectors.authoring`."""

from vectors.authoring import host_files, schemas
from vectors.authoring.federation import files

if __name__ == "__main__":
    files.write()
    host_files.write()
    schemas.write()
