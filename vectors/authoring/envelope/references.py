"""What a message may be about: refs of its own host, and refs that arrive from another (sections 4.3, 4.4)."""

from typing import Any, Final

from vectors.authoring.envelope.inputs import MEI
from vectors.authoring.host_steps import message, ok, refused, validate, vector
from vectors.authoring.kit import Json

_MARK: Final = "x" * 64


def _about(*refs: Any, received: bool = False) -> Json:
    return validate(MEI, message("human:tomas", "See these.", refs=list(refs)), received=received)


def _ref(type: str, id: str = "rows", **more: Any) -> Json:
    return {"type": type, "id": id, **more}


VECTORS: Final = [
    vector(
        "env.references.every-core-type-is-known",
        "A task, a run, a file, a commit and a message may be referred to, a file as of a commit",
        ok(
            _about(
                _ref("task", "t-0c0ffee"),
                _ref("run", "r-0b5e55ed"),
                _ref("file", "plans/west field/rows.csv", at="8f2c01d"),
                _ref("commit", "8f2c01d"),
                _ref("message", "m-01jabcdefghjkmnpqrstvwxyz0"),
            )
        ),
        sections=("4.3", "11.5"),
    ),
    vector(
        "env.references.an-unknown-type-is-named-by-its-entry",
        "A ref of a type no host registers is refused on the type of its own entry",
        *(
            refused(_about(_ref("file"), _ref("task"), _ref(type)), "invalid", "refs[2].type")
            for type in ("issue", "wiki", "x-row", "files", "pull.request")
        ),
        refused(_about(_ref("branch")), "invalid", "refs[0].type"),
        sections=("4.3", "4.5", "10.2"),
    ),
    vector(
        "env.references.a-type-is-an-identifier",
        "A ref whose type is no identifier is refused, whether it was written here or arrived",
        *(
            refused(_about(_ref("file"), _ref(type), received=received), "invalid", "refs[1].type")
            for received in (False, True)
            for type in (
                "",
                "File",
                "wiki page",
                "-wiki",
                "wiki/page",
                "wiki@west",
                "w\u00edki",
                "wiki\n",
                _MARK + "x",
            )
        ),
        sections=("1.4", "4.3", "4.4", "4.5"),
        structural=True,
    ),
    vector(
        "env.references.an-id-is-required",
        "A ref without an id, with an empty one or with one that is no string is refused on its id",
        refused(_about({"type": "file"}), "invalid", "refs[0].id"),
        refused(_about(_ref("file"), _ref("file", "")), "invalid", "refs[1].id"),
        refused(_about({"type": "file", "id": 7}), "invalid", "refs[0].id"),
        refused(_about({"type": "file", "id": None}), "invalid", "refs[0].id"),
        refused(_about(_ref("wiki", ""), received=True), "invalid", "refs[0].id"),
        sections=("4.3", "4.4", "4.5"),
        structural=True,
    ),
    vector(
        "env.references.a-ref-is-an-object-with-a-type",
        "A ref that has no type, or an at that is no string, is refused on that member",
        refused(_about({"id": "rows.csv"}), "invalid", "refs[0].type"),
        refused(_about({"type": 7, "id": "rows.csv"}), "invalid", "refs[0].type"),
        refused(_about(_ref("file", at=7)), "invalid", "refs[0].at"),
        sections=("4.3", "4.5"),
        structural=True,
    ),
    vector(
        "env.references.a-ref-is-no-text-and-no-list",
        "An entry of refs that is no object is refused",
        *(
            refused(_about(_ref("file"), entry), "invalid")
            for entry in ("file:rows.csv", 7, None, True, ["file", "rows"])
        ),
        sections=("4.3", "4.5"),
        structural=True,
    ),
    vector(
        "env.references.a-ref-names-things-in-any-words",
        "An id may hold spaces, an at sign, other alphabets and white space alone",
        ok(_about(_ref("file", "west field/\u00e9t\u00e9 @ noon.csv", at=" "), _ref("file", " "))),
        sections=("4.3",),
    ),
    vector(
        "env.references.a-received-type-may-be-unknown",
        "A received ref of any type that is an identifier passes, up to 64 bytes, as registered ones do",
        ok(
            _about(
                _ref("wiki", at="s2"), _ref("0.a_b-c"), _ref(_MARK), _ref("file", at="8f2c01d"), received=True
            )
        ),
        sections=("1.4", "4.4"),
    ),
    vector(
        "env.references.a-received-ref-keeps-the-limits",
        "A received ref of an unknown type still has an id and an at of one line and at most 512 bytes",
        ok(_about(_ref("wiki", "w" * 512, at="s" * 512), received=True)),
        refused(_about(_ref("wiki"), _ref("wiki", "w" * 513), received=True), "invalid", "refs[1].id"),
        refused(_about(_ref("wiki", at="s" * 513), received=True), "invalid", "refs[0].at"),
        refused(_about(_ref("wiki", "row\u20287"), received=True), "invalid", "refs[0].id"),
        refused(_about(_ref("wiki", at="row\x857"), received=True), "invalid", "refs[0].at"),
        sections=("1.4", "4.3", "4.4"),
    ),
    vector(
        "env.references.the-same-thing-may-be-named-twice",
        "Two refs that are equal are both kept: only their number is limited",
        ok(_about(_ref("file"), _ref("file"))),
        sections=("4.3", "4.5"),
    ),
]
