"""What is wrong with a trace: warnings, each with its finding."""
# SPDX-License-Identifier: Apache-2.0

import ctypes
import warnings
from typing import Any, List, NamedTuple

from ._library import FINDING_FUNCTION, lib, tw_finding


class Finding(NamedTuple):
    """One thing found wrong: damage, or a rule of the format that is broken. Offsets are bytes."""

    severity: str  # "note", "warning", "error"
    rule: str
    file: str
    record: int
    at: int
    line: int  # of text formats, from 1; else 0
    column: int
    text: str


class DamageWarning(UserWarning):
    """A warning about a trace. Its `finding` tells what and where."""

    def __init__(self, finding: Finding):
        place = f"line {finding.line}" if finding.line else f"offset {finding.at:#x}"
        super().__init__(f"{finding.file}: {place}: {finding.severity}: {finding.rule}: {finding.text}")
        self.finding = finding


MOST = 1000  # warnings of one kind about one file: a damaged file may have millions


class Collector:
    """Keeps findings until they are told by the thread that reads."""

    def __init__(self) -> None:
        self._found: List[Finding] = []
        self._counts: "dict[tuple[str, str], int]" = {}
        self.function: Any = FINDING_FUNCTION(self._take)

    def _take(self, _context: int, address: int) -> None:
        finding = tw_finding.from_address(address)
        key = (finding.file, finding.rule)
        self._counts[key] = self._counts.get(key, 0) + 1
        if self._counts[key] <= MOST:
            self._found.append(Finding(
                lib.tw_severity_name(finding.severity).decode(), finding.rule.decode(),
                finding.file.decode("utf-8", "replace"), finding.record, finding.at, finding.line, finding.column,
                finding.text.decode("utf-8", "replace")))

    def tell(self, level: int) -> None:
        """Warns of all that was found since the last time. level: of the stack, for where the warning stands."""
        while self._found:
            finding = self._found.pop(0)
            if finding.severity != "note":
                warnings.warn(DamageWarning(finding), stacklevel=level)
