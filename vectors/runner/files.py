"""Reads a directory of vector files, and refuses all of it when one is malformed (section 12.4.1)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from crypto.canonical import JsonError, parse
from vectors.runner import vector_shape
from vectors.runner.document import FEDERATION, PREFIXES
from vectors.runner.shape import ShapeError, anything, listed, matching, one_of, record, sentence
from vectors.runner.vector import Vector

_HERE: Final = Path(__file__).parents[1]

OWN: Final = (_HERE / "kit", _HERE / FEDERATION)
"""The vectors that come with this runner: a kit, and a class of its own."""

RETIRED: Final = "retired.json"

_FILE: Final = record(
    {
        "kit": matching(r"[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?", "a version"),
        "class": one_of(*PREFIXES),
        "area": matching("[a-z0-9-]+", "an area"),
        "vectors": listed(anything),
    }
)
_RETIRED: Final = record({"retired": listed(record({"id": sentence, "reason": sentence}))})


class BadFile(Exception):  # noqa: N818 - named for what it is to the caller
    """A file that cannot be read, or is not what it should be; the text is a sentence that names it."""

    def __init__(self, path: Path, fault: str) -> None:
        super().__init__(f"{path}: {fault}")


def read_json(path: Path) -> Any:
    """Read a JSON document. Raises BadFile for one that is not UTF-8, not JSON or repeats a member."""
    try:
        parsed = parse(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise BadFile(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadFile(path, "is not UTF-8") from None
    except JsonError as error:
        raise BadFile(path, str(error)) from None
    if parsed.duplicates:
        raise BadFile(path, "an object in it has the same member twice")
    return parsed.value


def read_vectors(*directories: Path) -> list[Vector]:
    """Return every vector of some directories, class by class and file by file in the order of their names.

    Each is a kit, or one class of a kit, as its name says. Raises BadFile for the first file that is malformed, for
    an id used twice, and for a retired one.
    """
    retired = (name for directory in directories for name in _retired(directory))
    taken = dict.fromkeys(retired, "is retired, and never used again")
    vectors = []
    for path in (path for directory in directories for path in _vector_files(directory)):
        for vector in _read_file(path):
            if vector.id in taken:
                raise BadFile(path, f"the id {vector.id} {taken[vector.id]}")
            taken[vector.id] = f"is used already in {path.parent.name}/{path.name}"
            vectors.append(vector)
    return vectors


def _vector_files(directory: Path) -> Iterator[Path]:
    if directory.absolute().name in PREFIXES:
        yield from (path for path in _files_of_class(directory) if path.name != RETIRED)
        return
    for folder in _entries(directory):
        if not folder.is_dir():
            continue  # registries, a licence, a page about the kit
        if folder.name not in PREFIXES:
            raise BadFile(folder, f"is no class of vectors: {', '.join(PREFIXES)}")
    for name in PREFIXES:
        folder = directory / name
        if folder.is_dir():
            yield from _files_of_class(folder)


def _files_of_class(folder: Path) -> Iterator[Path]:
    for path in _entries(folder):
        if path.is_dir():
            raise BadFile(path, "is a directory inside a class")
        if path.suffix == ".json":
            yield path


def _entries(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if not path.name.startswith((".", "__")))
    except OSError as error:
        raise BadFile(directory, f"cannot be read: {error.strerror}") from None


def _read_kept(path: Path) -> Any:
    """Read a document of the directory itself, where a pipe or a device might never end."""
    if path.exists() and not path.is_file():
        raise BadFile(path, "is a pipe or a device, and not a file")
    return read_json(path)


def _read_file(path: Path) -> list[Vector]:
    document = _read_kept(path)
    try:
        return _vectors(document, path)
    except ShapeError as error:
        raise BadFile(path, str(error)) from None


def _vectors(document: Any, path: Path) -> list[Vector]:
    _FILE(document, "")
    for member, name in (("class", path.absolute().parent.name), ("area", path.stem)):
        if document[member] != name:
            raise ShapeError(
                member, f"is {document[member]}, and the file is {path.absolute().parent.name}/{path.name}"
            )
    for index, raw in enumerate(document["vectors"]):
        place = f"vectors[{index}]"
        vector_shape.vector(raw, place)
        if raw["class"] != document["class"]:
            raise ShapeError(f"{place}.class", f"is not its file's, {document['class']}")
    return [Vector.of(raw) for raw in document["vectors"]]


def _retired(directory: Path) -> Iterator[str]:
    path = directory / RETIRED
    if not path.exists() and not path.is_symlink():  # a link that leads nowhere is one that cannot be read
        return
    document = _read_kept(path)
    try:
        _RETIRED(document, "")
    except ShapeError as error:
        raise BadFile(path, str(error)) from None
    for entry in document["retired"]:
        yield entry["id"]
