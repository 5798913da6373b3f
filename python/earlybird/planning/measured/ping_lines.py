"""
The lines of ping and similar programs, read by their structure: languages and code pages differ, numbers do not.

A reply has a time with a unit behind `=` or `<`, and no sign that it is none; a summary has what was sent, received and
lost in numbers that fit one another.
"""

from __future__ import annotations

import dataclasses
import re
from itertools import combinations, pairwise
from typing import Final

NUMBER: Final = r"\d+(?:[.,]\d*)?"
UNIT: Final = r"[^\s\d=<>:;,.()%/\[\]{}|\"'*#-]{1,6}"

TIME: Final = re.compile(rf"[=<]\s*({NUMBER})\s*({UNIT})(?!\d|\S*\s*[=<])")
"""The time of a reply: a number whose unit is not the name of the next value (`ttl=58 time=20.1 ms`), nor a part of a
hexadecimal number (`ID=7c1e`)."""
TCPING: Final = re.compile(rf"^seq (\d+): tcp response .*\s({NUMBER})\s+(ms)\s*$")
"""`seq 0: tcp response from example.org [open]  19.123 ms` (Linux's tcping)"""
FPING: Final = re.compile(rf"\[(\d+)\],.*?({NUMBER})\s*(ms)\b(?=\s*\()")
"""`192.0.2.7 : [1], 84 bytes, 9.67 ms (8.06 avg, 0% loss)`"""
ROUTEROS: Final = re.compile(r"^\s*(\d+)\s+\S+\s+\d+\s+\d+\s+((?:\d+s)?(?:\d+ms)?(?:\d+us)?)(?:\s|$)")
"""`    3 192.0.2.7    56  57 23ms`"""
POWERSHELL: Final = re.compile(r"^\s*(\d+)\s+\S+\s+(?:\S+\s+)?(\d+|\*)\s+(?:\d+|\*)\s+([A-Z][A-Za-z]+)\s*$")
"""`   1 DESKTOP    192.0.2.7    12    32 Success` (`Test-Connection` of PowerShell 7)"""
WINDOWS_POWERSHELL: Final = re.compile(
    r"^\S+\s+\S+\s+(?:\d+\.\d+\.\d+\.\d+|[\da-fA-F]*:[\da-fA-F:%]+)\s+(?:[\da-fA-F]*:[\da-fA-F:%]+\s+)?\d+\s+(\d+)\s*$"
)
"""`DESKTOP    viewer.example    192.0.2.7    2001:db8::7    32    12` (of Windows PowerShell 5.1)"""
SUCCESS: Final = "Success"
ERROR_RECORD: Final = re.compile(r"^\s*\+ |:\d+ \S+:\d+\s*$")
"""The second and further lines of an error of PowerShell: `At line:1 char:1`, `+ Test-Connection …`."""
PARTS: Final = re.compile(r"(\d+)(s|ms|us)")

SEQUENCE: Final = re.compile(r"seq\s*[=:]?\s*(\d+)", re.IGNORECASE)
FPING_NUMBER: Final = re.compile(r"\s:\s\[(\d+)\],")
DUPLICATE: Final = re.compile(r"\(DUP!?\)", re.IGNORECASE)
FAILED: Final = re.compile(
    r"no response|timed? ?out|unreachable|refused|fail|no answer|no reply|expired|exceeded|closed|error", re.IGNORECASE
)
"""Words of a try that failed and has a time all the same (tcping)."""

PERCENT: Final = re.compile(r"(\d+(?:[.,]\d+)?)\s*[%％]")
WHOLE: Final = re.compile(r"(?<![\d.,+:/\w])(\d+)(?![\d.:/A-Za-z]|,\d)")
SLASHES: Final = re.compile(r"(\d+)/(\d+)/(\d+(?:\.\d+)?)%")
"""`xmt/rcv/%loss = 4/3/25%` (fping)"""
CISCO: Final = re.compile(r"\d percent \((\d+)/(\d+)\)")
"""`Success rate is 90 percent (90/100), round-trip min/avg/max = 19/20/24 ms`"""
WRAPPED: Final = re.compile(r"(\s=\s+\d+,|packet\(s\) (?:transmitted|received))[ \t]*\r?\n[ \t]*")
"""A line break within a summary: `Trasmessi = 4, Ricevuti = 3,` and then `Persi = 1 (25% persi)` (Windows, Italian);
`3 packet(s) transmitted` and `2 packet(s) received` (Huawei)."""
TRIPLE: Final = re.compile(r"\s[=:]\s+(\d+)\D{1,40}\s[=:]\s+(\d+)\D{1,40}\s[=:]\s+(\d+)(?![\d.])")
"""`Pakete: Gesendet = 10, Empfangen = 8, Verloren = 2` (Windows)"""
SUMMARY: Final = re.compile(rf"=\s*({NUMBER})/({NUMBER})/({NUMBER})(?!\s*%)")
"""`rtt min/avg/max/mdev = 19,028/20,214/21,400/1,186 ms`"""
EXTREMES: Final = re.compile(rf"\s=\s+({NUMBER})\D{{1,40}}\s=\s+({NUMBER})\D{{1,40}}\s=\s+({NUMBER})\D*$")
"""`Minimum = 22ms, Maximum = 31ms, Mittelwert = 24ms` (Windows)"""
NPING: Final = re.compile(rf"Max rtt: ({NUMBER})ms \| Min rtt: ({NUMBER})ms \| Avg rtt: ({NUMBER})ms")
"""Of Nmap's nping."""
DURATION: Final = re.compile(rf"[%％].*?(\d+)\s*{UNIT}\s*$")
"""`600 packets transmitted, 600 received, 0% packet loss, time 120300ms`"""
TARGET: Final = re.compile(r"^PING\s+([^\s(]+)\s*\(|^(\S+)\s+:\s(?=.*\d)|^\s+Destination:\s+(\S+)\s*$")
"""`PING example.org (…`, `example.org : ` of fping, or PowerShell's heading."""
HEADING: Final = re.compile(r"^\s*-{2,}\s*([^\s-].*?)\s*-{2,}\s*$")
"""`--- example.org ping statistics ---`, and in other languages `--- statistiques ping example.org ---`."""
SCHEME: Final = re.compile(r"^\w+://|:\d+$|[/():,]+$|^\(")
"""Parts before and behind the name of a host: `http://example.org/`, `example.org:80`, `(192.0.2.7)`."""
ADDRESS: Final = re.compile(r"\d+\.\d+\.\d+\.\d+")
LISTED: Final = re.compile(rf"^(\S+)\s+:((?:\s+(?:{NUMBER}|-))+)\s*$")
"""`192.0.2.7 : 6.46 9.67 - 12.9` (`fping -C`)"""

PER_MILLISECOND: Final = {"s": 1e-3, "sec": 1e-3, "us": 1e3, "µs": 1e3, "μs": 1e3, "usec": 1e3}
"""Of units other than milliseconds, which have many names: ms, msec, мс, 毫秒 …"""

ROUNDED: Final = 1.0  # per cent that a program's share of losses may be rounded by


@dataclasses.dataclass(frozen=True)
class Reply:
    """A reply: its time in milliseconds, and its number if it has one."""

    milliseconds: float
    number: int | None


@dataclasses.dataclass(frozen=True)
class Counts:
    """The counts of a summary."""

    sent: int
    received: int


def plain(text: str) -> float:
    """Read a number with a decimal point or comma."""
    return float(text.replace(",", "."))


def reply_in(line: str) -> Reply | None:
    """Return the reply of a line, if it is one and no duplicate."""
    if DUPLICATE.search(line) or FAILED.search(line):
        return None
    if found := FPING.search(line) or TCPING.search(line):
        return Reply(plain(found[2]), int(found[1]))
    if (found := ROUTEROS.search(line)) and found[2]:
        parts = PARTS.findall(found[2])
        return Reply(sum(int(number) / PER_MILLISECOND.get(unit, 1.0) for number, unit in parts), int(found[1]))
    if found := POWERSHELL.search(line):
        return Reply(float(found[2]), int(found[1])) if found[3] == SUCCESS and found[2] != "*" else None
    if found := WINDOWS_POWERSHELL.search(line):
        return Reply(float(found[1]), None)
    if counts_in(line) or summary_in(line):
        return None
    times = TIME.findall(line)
    if not times:
        return None
    value, unit = times[-1]
    return Reply(plain(value) / PER_MILLISECOND.get(unit.lower(), 1.0), number_in(line))


def number_in(line: str) -> int | None:
    """Return the number of the try that a line is about, whether it was answered or not."""
    found = SEQUENCE.search(line) or FPING_NUMBER.search(line) or POWERSHELL.search(line)
    return int(found[1]) if found else None


def counts_in(line: str) -> Counts | None:
    """Return the counts of a summary's line, if they fit one another."""
    if found := SLASHES.search(line):
        return Counts(int(found[1]), int(found[2]))
    if found := CISCO.search(line):
        return Counts(int(found[2]), int(found[1]))
    if share := PERCENT.search(line):
        before, lost = [int(number) for number in WHOLE.findall(line[: share.start()])], plain(share[1])
        for first, second in pairwise(before):
            if _is_lost_share(first, second, lost):
                return Counts(first, second)
            if first + second and abs(100 * second / (first + second) - lost) <= ROUNDED and "(" in line:
                return Counts(first + second, first)  # successful, failed (tcping)
        apart = combinations(before, 2)  # `3 probes transmitted on port 443 | 2 received, 33.33% packet loss`
        return next((Counts(*pair) for pair in apart if _is_lost_share(*pair, lost)), None)
    if found := TRIPLE.search(line):
        sent, received, lost_count = map(int, found.groups())
        return Counts(sent, received) if sent and sent - received == lost_count else None
    return None


def _is_lost_share(sent: int, received: int, lost: float) -> bool:
    """Return whether so many per cent were lost, as programs round it."""
    return 0 < sent >= received and abs(100 * (sent - received) / sent - lost) <= ROUNDED


def seconds_in(line: str) -> float | None:
    """Return how long a run took, of a summary that ends with it (iputils)."""
    found = DURATION.search(line)
    return int(found[1]) / 1e3 if found else None


def listed_in(line: str) -> list[float | None]:
    """Return the times of a line of `fping -C`, None for what did not come back."""
    found = LISTED.search(line)
    return [None if each == "-" else plain(each) for each in found[2].split()] if found else []


def summary_in(line: str) -> tuple[float, float, float] | None:
    """Return the shortest, mean and longest round trip of a summary, in milliseconds."""
    if found := SUMMARY.search(line):
        shortest, mean, longest = map(plain, found.groups())
    elif found := EXTREMES.search(line):
        shortest, longest, mean = map(plain, found.groups())
    elif found := NPING.search(line):
        longest, shortest, mean = map(plain, found.groups())
    else:
        return None
    return (shortest, mean, longest) if shortest <= mean <= longest else None


def targets_in(line: str) -> list[str]:
    """
    Return the words of a line one of which is a host: of a heading, of fping, or a reply without a number (Windows).

    The first is the likeliest. Those of replies without a number are addresses.
    """
    if found := HEADING.search(line):
        return [word for each in found[1].split() if (word := _host(each))]
    if found := TARGET.search(line):
        return [_host(next(filter(None, found.groups())))]
    reply = reply_in(line)
    address = ADDRESS.search(line) if reply and reply.number is None else None
    return [address[0]] if address else []


def _host(word: str) -> str:
    """Return the name of a host without scheme, port and punctuation."""
    return SCHEME.sub("", SCHEME.sub("", word)).lower()
