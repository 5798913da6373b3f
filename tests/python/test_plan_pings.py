"""Pings and other measurements whose form differs from those in the folder `field`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from earlybird import InputError
from earlybird.planning.measured import iperf3, irtt, ping
from earlybird.planning.measured.kinds import kind_of

FIELD = Path(__file__).parent / "field"

ITALIAN = """
Esecuzione di Ping 192.0.2.7 con 32 byte di dati:
Risposta da 192.0.2.7: byte=32 durata=23ms TTL=57
Richiesta scaduta.
Risposta da 192.0.2.7: byte=32 durata=25ms TTL=57

Statistiche Ping per 192.0.2.7:
    Pacchetti: Trasmessi = 3, Ricevuti = 2,
    Persi = 1 (33% persi),
Tempo approssimativo percorsi andata/ritorno in millisecondi:
    Minimo = 23ms, Massimo =  25ms, Medio =  24ms
"""
REPLY = "64 bytes from 192.0.2.7: icmp_seq={} ttl=58 time=20.0 ms\n"
RUN = """--- a.example ping statistics ---
{} packets transmitted, {} received, {}% packet loss, time 19027ms
rtt min/avg/max/mdev = 30.0/{}/53.0/0.5 ms
"""
FPING = """[1716900000.12] 192.0.2.7 : [0], 64 bytes, 9.67 ms (9.67 avg, 0% loss)
[1716900001.12] 192.0.2.7 : [1], timed out (9.67 avg, 50% loss)
"""

POWERSHELL_7 = """
   Destination: viewer.example

Ping Source           Address                   Latency BufferSize Status
                                                   (ms)        (B)
---- ------           -------                   ------- ---------- ------
   1 DESKTOP-7A       192.0.2.7                      22         32 Success
   2 DESKTOP-7A       *                               *          * TimedOut
   3 DESKTOP-7A       192.0.2.7                      24         32 Success
   4 DESKTOP-7A       192.0.2.7                      26         32 Success
   5 DESKTOP-7A                                       *         32 TimedOut
"""
POWERSHELL_5 = """
Source        Destination     IPV4Address      IPV6Address                              Bytes    Time(ms)
------        -----------     -----------      -----------                              -----    --------
DESKTOP-7A    viewer.example  192.0.2.7        2001:db8::7                              32       22
DESKTOP-7A    viewer.example  192.0.2.7                                                 32       24
Test-Connection : Testing connection to computer 'viewer.example' failed: Error due to lack of resources
At line:1 char:1
+ Test-Connection viewer.example -Count 4
+ ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    + CategoryInfo          : ResourceUnavailable: (viewer.example:String) [Test-Connection], PingException
    + FullyQualifiedErrorId : TestConnectionException,Microsoft.PowerShell.Commands.TestConnectionCommand

DESKTOP-7A    viewer.example  192.0.2.7                                                 32       26
"""


@pytest.mark.parametrize(("text", "lost", "sent"), [(POWERSHELL_7, 2, 5), (POWERSHELL_5, 1, 4)], ids=["7", "5.1"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_what_powershell_prints_was_not_what_ping_prints(
    tmp_path: Path, text: str, lost: int, sent: int, encoding: str
) -> None:
    (tmp_path / "ping.txt").write_text(text.replace("\n", "\r\n"), encoding=encoding, newline="")
    assert kind_of(tmp_path / "ping.txt") == "ping"
    found = ping.read(tmp_path / "ping.txt")
    assert found.round_trip == pytest.approx(0.024)
    assert found.loss_sample is not None
    assert (found.loss_sample.lost, found.loss_sample.sent) == (lost, sent)


@pytest.mark.parametrize(
    ("text", "milliseconds", "lost", "sent"),
    [
        (ITALIAN.replace("\n", "\r\n"), 24.0, 1, 3),
        (REPLY.format(1) + "no answer yet for icmp_seq=2\nno answer yet for icmp_seq=3\n", 20.0, 2, 3),
        ("no answer yet for icmp_seq=1\n" + REPLY.format(2), 20.0, 1, 2),
        (REPLY.format(65534) + "Request timeout for icmp_seq 65535\nRequest timeout for icmp_seq 0\n", 20.0, 2, 3),
        (REPLY.format(0) + "Request timeout for icmp_seq 1\n" + REPLY.format(1), 20.0, 0, 2),
        (FPING, 9.67, 1, 2),
        (RUN.format(20, 20, 0, 31.0) + RUN.format(80, 60, 25, 35.0), 34.0, 20, 100),
    ],
    ids=["summary-of-two-lines", "lost-at-the-end", "lost-at-the-start", "wrapped", "late", "fping-D", "mean-of-runs"],
)
def test_lost_pings_at_an_end_were_not_counted(
    tmp_path: Path, text: str, milliseconds: float, lost: int, sent: int
) -> None:
    (tmp_path / "ping.txt").write_text(text, encoding="utf-8")
    found = ping.read(tmp_path / "ping.txt")
    assert found.round_trip == pytest.approx(milliseconds / 1e3)
    assert found.loss_sample is not None
    assert (found.loss_sample.lost, found.loss_sample.sent) == (lost, sent)


UNREACHABLE = (
    "Reply from 192.168.1.1: Destination host unreachable.\nPackets: Sent = 1, Received = 1, Lost = 0 (0% loss)"
)
NPING = "SENT (0.04s) ICMP [10.0.0.1 > 192.0.2.7 Echo request (type=8/code=0) id=1 seq=1] IP [ttl=64 id=1 iplen=28 ]"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("20 packets transmitted, 14 received, 30% packet loss, time 19027ms\n", "none of 20 pings has a time"),
        (UNREACHABLE, "none of 1 pings has a time"),
        (NPING, "no line has a time"),
    ],
    ids=["only-counts", "unreachable", "nping"],
)
def test_pings_without_times_are_refused_with_the_reason(tmp_path: Path, text: str, word: str) -> None:
    (tmp_path / "ping.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=word):
        ping.read(tmp_path / "ping.txt")


@pytest.mark.parametrize(
    "end",
    [
        {"sum": {"bits_per_second": 5e6, "lost_percent": 100.0, "lost_packets": 9, "packets": 9, "bytes": 9000}},
        {"sum_received": {"bits_per_second": -5e6, "bytes": -1, "seconds": 10}},
    ],
    ids=["all-lost", "negative"],
)
def test_a_test_of_which_nothing_arrived_had_a_rate_of_0_or_below(tmp_path: Path, end: dict[str, Any]) -> None:
    (tmp_path / "speed.json").write_text(json.dumps({"end": end}))
    with pytest.raises(InputError, match="nothing arrived"):
        iperf3.read(tmp_path / "speed.json")


@pytest.mark.parametrize("count", [0, 1000])
def test_irtt_without_an_answer_had_losses_of_100_per_cent(tmp_path: Path, count: int) -> None:
    document = json.loads(gzip.decompress((FIELD / "down-only.json.gz").read_bytes()))
    document["round_trips"] = [{**trip, "lost": "true"} for trip in document["round_trips"][:count]]
    (tmp_path / "irtt.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=f"none of {count} packets came back"):
        irtt.read(tmp_path / "irtt.json")
