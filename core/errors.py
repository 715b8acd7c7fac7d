"""The one error of the protocol: a code, the field at fault, and how to fix it (section 10)."""

from enum import StrEnum


class Code(StrEnum):
    """The registered error codes (section 11.9)."""

    INVALID = "invalid"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not-found"
    CONFLICT = "conflict"
    LIMITED = "limited"
    UNAVAILABLE = "unavailable"


class DmpError(Exception):
    """A refusal. Nothing of the refused operation was done (section 10).

    `field` is the path of the part of the caller's input that failed (section 10.2), such as `refs[0].type`;
    None where no part of the input is at fault. `message` is a sentence for whoever has to fix it.
    """

    def __init__(self, code: Code, message: str, field: str | None = None) -> None:
        super().__init__(code, message, field)
        self.code = code
        self.message = message
        self.field = field

    def __str__(self) -> str:
        place = f" on {self.field}" if self.field else ""
        return f"{self.code}{place}: {self.message}"


def invalid(field: str | None, message: str) -> DmpError:
    """Return the refusal of an input that breaks a rule."""
    return DmpError(Code.INVALID, message, field)


def forbidden(field: str, message: str) -> DmpError:
    """Return the refusal of something this sender may not do."""
    return DmpError(Code.FORBIDDEN, message, field)


def not_found(field: str | None, message: str) -> DmpError:
    """Return the refusal of an input that names what is absent, or what the sender may not know of."""
    return DmpError(Code.NOT_FOUND, message, field)


def conflict(field: str, message: str) -> DmpError:
    """Return the refusal of what the current state does not allow."""
    return DmpError(Code.CONFLICT, message, field)


def damaged(what: str) -> DmpError:
    """A row of the store that no version of this program wrote so."""
    return DmpError(
        Code.UNAVAILABLE, f"the store is damaged: {what} cannot be read; put the store back from a backup"
    )
