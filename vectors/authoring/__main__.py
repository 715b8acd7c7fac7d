"""Write the federation vectors: `python -m vectors.authoring`."""

from vectors.authoring.files import write

if __name__ == "__main__":
    write()
