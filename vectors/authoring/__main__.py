"""Write every file that a module here states: `python -m vectors.authoring`."""

from vectors.authoring import files, host_files, schemas

if __name__ == "__main__":
    files.write()
    host_files.write()
    schemas.write()
