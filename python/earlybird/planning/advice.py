"""Instructions to use a sender: settings of the server that sends, or the command in its place."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Final

from earlybird.planning.ladder import UNSENT_LIMIT
from earlybird.planning.server_settings import KEY, KEY_VARIABLE, ServerSettings
from earlybird.planning.session import latency

if TYPE_CHECKING:
    from earlybird.planning.candidates import Candidate
    from earlybird.planning.path import NetworkPath
    from earlybird.planning.stream import StreamSpec

LINUX_BUFFER: Final = 4 * 2**20  # bytes up to which Linux lets a send buffer grow (`tcp_wmem`, tcp(7)) ..
OVERHEAD: Final = 2  # ... of which half is for its own bookkeeping (`tcp_adv_win_scale`, tcp(7))
UNSENT: Final = 0.1
"""Seconds of film that wait in the kernel unsent: as little as keeps the sender busy between two wake-ups."""
LEAST_UNSENT: Final = 16 * 1024

IN_THE_KERNEL: Final = {
    "cubic": "cubic",
    "reno": "reno",
    "newreno": "reno",
    "sack": "reno",
    "vegas": "vegas",
    "bbr": "bbr",
    "bbr1": "bbr",
    "bbr3": "bbr",
    "pert": "pert",
}
"""Linux's name of a congestion control, by that of the transport."""

STORED: Final = ("vod", "hls")
"""Goals whose films a web server sends."""


def advice(
    candidate: Candidate, path: NetworkPath, stream: StreamSpec, delay: float, interface: str | None = None
) -> list[str]:
    """Return the instructions for a delay in seconds: shell commands, and comments that begin with #."""
    if not math.isfinite(delay):
        return ["# no setting helps: send less, or over a better line"]
    settings = server_settings(candidate, path, stream, delay, interface)
    return [*settings.lines(), *_notes(candidate, path, stream, delay)]


def server_settings(
    candidate: Candidate, path: NetworkPath, stream: StreamSpec, delay: float, interface: str | None = None
) -> ServerSettings:
    """Return the settings of a server that sends as it was simulated, for a delay in seconds; perhaps none."""
    control = _in_the_kernel(candidate)
    if not math.isfinite(delay) or not (control or candidate.base == "srt" or _is_endpoints(candidate, stream)):
        return ServerSettings()
    if not control:
        return ServerSettings(command=_command(candidate, path, delay))
    timer = candidate.settings.get("rto", {}).get("floor", "")
    # Of a segment that a player abandons no more is sent than was simulated.
    unsent = {} if stream.ladder is None else {"net.ipv4.tcp_notsent_lowat": f"{UNSENT_LIMIT}"}
    return ServerSettings(control, {**_buffers(path), **unsent}, timer, interface=interface or "")


def router_advice(path: NetworkPath) -> list[str]:
    """Return the instructions for CAKE in front of a line, as root on Linux; comments begin with #."""
    return [
        "# on the router that sends into the line:",
        f"tc qdisc replace dev IFACE root cake bandwidth {path.rate / 1e3:.0f}kbit    # IFACE: to the line",
        "# where only the router behind the line is yours: the same with `ingress` on an ifb device (tc-cake(8))",
        "# OpenWrt: package luci-app-sqm, with this rate",
    ]


def repeat_measurement(path: NetworkPath) -> list[str]:
    """Return the instructions for a measurement that tells the losses better."""
    if path.loss_sample is None:
        return []
    return [
        "# first measure the losses again, and give all files to the next plan:",
        f"ping -c {path.loss_sample.wanted} -i 0.2 VIEWER > ping.txt    # or capture a transfer, for --from-pcap",
        "# with the losses as they were measured:",
    ]


def _in_the_kernel(candidate: Candidate) -> str:
    """Return Linux's name of the sender; empty if no kernel has it, such as early retransmission."""
    return "" if candidate.transport.endswith("-er") else IN_THE_KERNEL.get(candidate.base, "")


def _is_endpoints(candidate: Candidate, stream: StreamSpec) -> bool:
    """Return whether `earlybird transmit` sends it: a live stream over a transport that no other program has."""
    others = ("srt", "udp", "tfrc", "quic", "quic-streams", "quic-datagrams")
    return stream.goal not in STORED and not _in_the_kernel(candidate) and candidate.base not in others


def _notes(candidate: Candidate, path: NetworkPath, stream: StreamSpec, delay: float) -> list[str]:
    """List what no command sets, as comments."""
    match candidate.base:
        case "udp" | "tfrc":
            return ["# datagrams: RTP over UDP, as GStreamer's rtpbin or FFmpeg's rtp:// send it"]
        case "quic" | "quic-streams":
            return ["# any program with QUIC (quinn here): a stream for all frames, or one for each with quic-streams"]
        case "quic-datagrams":
            return ["# any program with QUIC and its datagrams (RFC 9221; quinn here)"]
        case "srt":
            return _srt(latency(path, delay))
        case _ if not _in_the_kernel(candidate):
            return _of_the_endpoint(candidate, stream)
        case base:
            return [*_of_the_kernel(base, path, delay, stream), *_sockets(path, stream)]


def _srt(milliseconds: int) -> list[str]:
    return [
        f"# FFmpeg, and OBS as its server: srt://VIEWER:4201?latency={1000 * milliseconds}, which is in microseconds",
        f"# at the viewer: srt-live-transmit 'srt://:4201?latency={milliseconds}' udp://127.0.0.1:5000; undo: end both",
        "# check: the receiver drops hardly anything (pktRcvDrop of srt-live-transmit -s 1000 -pf json)",
    ]


def _of_the_endpoint(candidate: Candidate, stream: StreamSpec) -> list[str]:
    if stream.goal in STORED:
        return [
            f"# no web server sends with {candidate.transport}, which only earlybird's endpoint has:"
            " compare cubic, bbr and pert-rack"
        ]
    return _receiver()


def _receiver() -> list[str]:
    return [
        f"# {KEY}: 10 to 79 characters, the same at both ends: it encrypts the stream, and refuses others",
        f"# at the viewer: {KEY_VARIABLE} earlybird transmit eb://:4201 udp://127.0.0.1:5000; undo: end both",
    ]


def _of_the_kernel(base: str, path: NetworkPath, delay: float, stream: StreamSpec) -> list[str]:
    match base:
        case "bbr3":
            return _own_kernel(path, delay, stream)
        case "reno" | "newreno":
            return ["# simulated without SACK; Linux's reno has it, which is the transport `sack`"]
        case _:
            return []


def _own_kernel(path: NetworkPath, delay: float, stream: StreamSpec) -> list[str]:
    found = ["# version 3 of BBR is in no distribution's kernel, whose bbr is version 1: first build and start"]
    found.append("# github.com/google/bbr, branch v3")
    if stream.goal in STORED:
        return found
    relay = shlex.join(_transmit("bbr3-rack", path, delay))
    return [*found, f"# or without such a kernel: {KEY_VARIABLE} {relay}", *_receiver()]


def _command(candidate: Candidate, path: NetworkPath, delay: float) -> tuple[str, ...]:
    if candidate.base == "srt":
        return ("srt-live-transmit", "udp://:1234", f"srt://VIEWER:4201?latency={latency(path, delay)}")
    return _transmit(candidate.transport, path, delay)


def _transmit(transport: str, path: NetworkPath, delay: float) -> tuple[str, ...]:
    """Return the command of a relay; its latency counts from the shortest time that the path takes."""
    address = f"eb://VIEWER:4201?transport={transport}&latency={latency(path, delay)}"
    return ("earlybird", "transmit", "udp://:1234", address)


def _buffers(path: NetworkPath) -> dict[str, str]:
    """Return a larger send buffer, where the line holds more than Linux's."""
    needed = _needed_buffer(path)
    return {"net.ipv4.tcp_wmem": f"4096 16384 {needed}"} if needed > LINUX_BUFFER else {}


def _needed_buffer(path: NetworkPath) -> int:
    """Return the bytes of a buffer of two round trips."""
    return 2 * OVERHEAD * round(path.volume)


def _sockets(path: NetworkPath, stream: StreamSpec) -> list[str]:
    """List what a program sets on its sockets, a web server by its own settings; and viewers."""
    needed = _needed_buffer(path)
    viewers = [f'# at viewers with Linux: sysctl -w net.ipv4.tcp_rmem="4096 131072 {needed}"']
    more = viewers if needed > LINUX_BUFFER else []
    if stream.goal in STORED:
        return [
            *more,
            "# nginx, Caddy and Apache send with the kernel's congestion control and have no setting for it",
            "# nginx: sendfile on; tcp_nopush on; keepalive_timeout 75s; see docs/web-server.md",
        ]
    unsent = max(round(UNSENT * stream.clip.mean_rate / 8 / 1024) * 1024, LEAST_UNSENT)
    return [
        *more,
        f"# a program of your own: TCP_NODELAY 1; to drop frames that wait unsent, TCP_NOTSENT_LOWAT {unsent}",
    ]
