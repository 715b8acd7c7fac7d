"""The JUnit file of a run: a suite for each class, a case for each vector (section 12.4.8)."""

import re
from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree

from vectors.runner.running import Outcome, Result

_UNWRITABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold, not even as a reference."""


def junit(classes: Sequence[str], results: Sequence[Result]) -> str:
    """Return the document."""
    root = ElementTree.Element("testsuites")
    for name in classes:
        suite = ElementTree.SubElement(root, "testsuite", name=name)
        for result in results:
            if result.vector.vector_class == name:
                _case(suite, result)
        for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
            suite.set(attribute, str(sum(1 for _ in suite.iter(tag))))
        suite.set("errors", "0")
    ElementTree.indent(root)
    document: str = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def _case(suite: ElementTree.Element, result: Result) -> None:
    vector, outcome = result.vector, result.outcome
    case = ElementTree.SubElement(suite, "testcase", classname=vector.vector_class, name=vector.id)
    if outcome is Outcome.PASS:
        return
    reasons = _writable("; ".join(result.reasons))
    message = f"{outcome}: {reasons}" if reasons else str(outcome)
    if vector.level == "MUST" and outcome is not Outcome.NOT_APPLICABLE:
        failure = ElementTree.SubElement(case, "failure", message=message, type=str(outcome))
        failure.text = _writable("\n".join(result.reasons))
    elif vector.level == "SHOULD" and outcome is Outcome.FAIL:
        ElementTree.SubElement(case, "skipped", message=f"SHOULD not met: {reasons}")
    else:
        ElementTree.SubElement(case, "skipped", message=message)


def _writable(text: str) -> str:
    return _UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
