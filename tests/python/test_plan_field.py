"""Files as people have them: what other programs wrote, in all languages and versions, and what is right."""

from __future__ import annotations

import json
import lzma
import re
import shutil
import struct
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import av
import numpy as np
import pytest

import earlybird
from earlybird import InputError
from earlybird.clip import MediaError
from earlybird.media import demultiplex, film_of, read_clip
from earlybird.planning import scenario_file
from earlybird.planning.answer import warnings
from earlybird.planning.measured import iperf3, irtt, mahimahi, pcap, ping
from earlybird.planning.measured.kinds import kind_of
from earlybird.planning.path import Measurements, completed
from earlybird.planning.planner import PlanRequest
from earlybird.planning.samples import LossSample

if TYPE_CHECKING:
    from collections.abc import Callable

CLIP = Path(__file__).parents[2] / "media" / "test-clip.mp4"
FIELD = Path(__file__).parent / "field"
"""Measurement files from public reports, made small, without names and addresses (tests/python/field/README.md)."""


@pytest.mark.parametrize(
    ("name", "milliseconds", "lost", "sent"),
    [
        ("ping-de.txt", 23.5, 2, 10),
        ("ping-bom.txt", 23.5, 2, 10),
        ("ping-powershell-utf16.txt", 23.5, 2, 10),
        ("ping-de-linux.txt", 19.95, 1, 5),
        ("fping-count.txt", 9.67, 1, 4),
        ("fping-q.txt", 24.0, 2, 100),
        ("ping-log.txt", 31.25, 10, 60),
        ("ping-wrap-tail.txt", 40.4, 9, 100),
        ("ping-comma.txt", 20.2, 0, 2),
        ("ping-q-comma.txt", 20.214, 4, 500),
        ("tcping.txt", 41.233, 2, 5),
        ("ping-5g-spikes.txt", 25.4, 0, 600),
    ],
)
def test_pings_as_people_have_them(name: str, milliseconds: float, lost: int, sent: int) -> None:
    found = ping.read(FIELD / name)
    assert found.loss_sample is not None
    assert (found.loss_sample.lost, found.loss_sample.sent) == (lost, sent)
    assert found.loss == lost / sent
    assert found.round_trip == pytest.approx(milliseconds / 1e3, rel=1e-3)


WINDOWS = """
{header}
{reply}=32 {time}=23{unit} TTL=57
{timeout}
{reply}=32 {time}=25{unit} TTL=57

{summary}
"""
LANGUAGES = {
    "ru": ("Обмен пакетами с 192.0.2.7 по с 32 байтами данных:", "Ответ от 192.0.2.7: число байт", "время", "мс",
           "Превышен интервал ожидания для запроса.",
           "Статистика Ping для 192.0.2.7:\n    Пакетов: отправлено = 3, получено = 2, потеряно = 1\n    (33% потерь)\n"
           "Приблизительное время приема-передачи в мс:\n    Минимальное = 23мсек, Максимальное = 25 мсек, "
           "Среднее = 24 мсек"),
    "zh": ("正在 Ping 192.0.2.7 具有 32 字节的数据:", "来自 192.0.2.7 的回复: 字节", "时间", "ms", "请求超时。",
           "192.0.2.7 的 Ping 统计信息:\n    数据包: 已发送 = 3，已接收 = 2，丢失 = 1 (33% 丢失)，\n"
           "往返行程的估计时间(以毫秒为单位):\n    最短 = 23ms，最长 = 25ms，平均 = 24ms"),
    "ja": ("192.0.2.7 に ping を送信しています 32 バイトのデータ:", "192.0.2.7 からの応答: バイト数 ", "時間 ", "ms",
           "要求がタイムアウトしました。",
           "192.0.2.7 の ping 統計:\n    パケット数: 送信 = 3、受信 = 2、損失 = 1 (33% の損失)、\n"
           "ラウンド トリップの概算時間 (ミリ秒):\n    最小 = 23ms、最大 = 25ms、平均 = 24ms"),
    "fr": ("Envoi d'une requête 'Ping'  192.0.2.7 avec 32 octets de données :", "Réponse de 192.0.2.7 : octets",
           "temps",
           " ms", "Délai d'attente de la demande dépassé.",
           "Statistiques Ping pour 192.0.2.7:\n    Paquets : envoyés = 3, reçus = 2, perdus = 1 (perte 33%),\n"
           "Durée approximative des boucles en millisecondes :\n    Minimum = 23ms, Maximum = 25ms, Moyenne = 24ms"),
}  # fmt: skip


@pytest.mark.parametrize("cut", [False, True], ids=["whole", "cut"])
@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *((language, encoding) for language in LANGUAGES for encoding in ("utf-8", "utf-16", "utf-16-le")),
        *(("ru", encoding) for encoding in ("cp866", "cp1251")),
        *(("fr", encoding) for encoding in ("cp850", "cp1252")),
        ("zh", "gbk"),
        ("ja", "cp932"),
    ],
)
def test_pings_of_windows_in_other_languages_were_refused(
    tmp_path: Path, *, language: str, encoding: str, cut: bool
) -> None:
    keys = ("header", "reply", "time", "unit", "timeout", "summary")
    text = WINDOWS.format_map(dict(zip(keys, LANGUAGES[language], strict=True)))
    path = tmp_path / "ping.txt"
    path.write_bytes((text[: text.rfind("TTL=57") + 6] if cut else text).encode(encoding))
    found = ping.read(path)
    assert found.round_trip == pytest.approx(0.024)
    assert found.loss == pytest.approx(1 / 3)


ROUTEROS = """  SEQ HOST                                     SIZE TTL TIME       STATUS
    0 192.0.2.7                                  56  57 23ms
    1 192.0.2.7                                                    timeout
    sent=2 received=1 packet-loss=50% min-rtt=23ms avg-rtt=23ms max-rtt=23ms
    2 192.0.2.7                                  56  57 25ms500us
    sent=3 received=2 packet-loss=33% min-rtt=23ms avg-rtt=24ms max-rtt=25ms
"""
MTR = """HOST: me                          Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- 192.168.1.1                0.0%   100    0.5   0.6   0.4   3.2   0.3
  2.|-- ???                       100.0   100    0.0   0.0   0.0   0.0   0.0
  3.|-- 192.0.2.7                  1.0%   100   23.1  24.0  22.9  61.2   3.1
"""
CHINESE_LINUX = """64 字节，来自 192.0.2.7: icmp_seq=1 ttl=58 时间=19.0 毫秒
64 字节，来自 192.0.2.7: icmp_seq=3 ttl=58 时间=21.0 毫秒

--- 192.0.2.7 ping 统计 ---
已发送 3 个包， 已接收 2 个包, 33.3333% packet loss, time 2003ms
"""
UNREACHABLE = """From 10.0.0.1 icmp_seq=1 Destination Host Unreachable
64 bytes from 192.0.2.7: icmp_seq=2 ttl=64 time=3.2 ms
4 packets transmitted, 1 received, +3 errors, 75% packet loss, time 3004ms
"""


@pytest.mark.parametrize(
    ("text", "milliseconds", "loss"),
    [
        (ROUTEROS, 24.25, 1 / 3),
        (MTR, 24.0, 0.01),
        (CHINESE_LINUX, 20.0, 1 / 3),
        (UNREACHABLE, 3.2, 0.75),
        ("192.0.2.7 : 6.46 9.67 - 12.9\n", 9.67, 0.25),
        ("24 bytes from 192.0.2.7: icmp_seq=0 time=500µs\n24 bytes from 192.0.2.7: icmp_seq=1 time=1.5ms\n", 1.0, 0.0),
    ],
    ids=["routeros", "mtr", "iputils in Chinese", "unreachable", "fping -C", "microseconds"],
)
def test_programs_like_ping_were_not_read(tmp_path: Path, text: str, milliseconds: float, loss: float) -> None:
    (tmp_path / "ping.txt").write_text(text, encoding="utf-8")
    found = ping.read(tmp_path / "ping.txt")
    assert found.round_trip == pytest.approx(milliseconds / 1e3)
    assert found.loss == pytest.approx(loss)


@pytest.mark.parametrize(
    ("name", "milliseconds", "lost", "sent"),
    [
        ("iputils-in-french.txt", 20.1, 1, 4),
        ("aix.txt", 19.5, 0, 2),
        ("cisco-ios.txt", 20, 10, 100),
        ("huawei.txt", 20, 1, 3),
        ("hrping.txt", 20.123, 1, 4),
        ("linux-tcping.txt", 19.623, 1, 3),
        ("tcping-in-go.txt", 19.623, 1, 3),
        ("nping.txt", 19.6, 1, 3),
        ("httping.txt", 19.62, 0, 2),
        ("mtr-csv.txt", 19.6, 2, 100),
        ("winmtr.txt", 20, 2, 100),
    ],
)
def test_other_programs_than_ping_were_refused_or_miscounted(
    name: str, milliseconds: float, lost: int, sent: int
) -> None:
    found = ping.read(FIELD / "ping_programs" / name)
    assert found.round_trip == pytest.approx(milliseconds / 1e3)
    assert found.loss_sample
    assert (found.loss_sample.lost, found.loss_sample.sent) == (lost, sent)


def test_pings_of_two_targets_were_taken_for_one_line(tmp_path: Path) -> None:
    both = CHINESE_LINUX + CHINESE_LINUX.replace("192.0.2.7", "192.0.2.9")
    (tmp_path / "ping.txt").write_text(both, encoding="utf-8")
    with pytest.raises(InputError, match=r"2 targets \(192.0.2.7, 192.0.2.9\)"):
        ping.read(tmp_path / "ping.txt")


# iperf3 and irtt


def test_a_share_of_losses_above_one_made_a_negative_rate() -> None:
    with pytest.raises(InputError, match=r"states that 179\.6 % were lost, which cannot be"):
        iperf3.read(FIELD / "over100-3.9.json")
    found = iperf3.read(FIELD / "over100-3.12.json")
    assert found.rate == pytest.approx(207.17e6, rel=1e-3)
    assert found.loss is None


def test_two_tests_in_a_file_were_refused() -> None:
    found = iperf3.read(FIELD / "twice.json")
    assert found.rate == pytest.approx(20.47e6, rel=1e-3)
    assert any("holds 2 tests" in fact for fact in found.facts)


def test_numbers_that_c_prints_for_none_were_refused() -> None:
    found = iperf3.read(FIELD / "nan.json")
    assert found.loss == pytest.approx(0.00606, rel=1e-2)
    assert found.rate == pytest.approx(66e3 * (1 - 0.00606) * (1 + 28 / 250), rel=1e-4)


@pytest.mark.parametrize("reader", [iperf3, irtt, ping], ids=lambda module: module.__name__)
@pytest.mark.parametrize(
    "text",
    [
        200_000 * "[" + 200_000 * "]",
        100_000 * '{"report":' + "1" + 100_000 * "}",
        '{"end": {"sum_received": {"bits_per_second": ' + 5000 * "9" + "}}}",
        '{"end": {"sum_received": {"bits_per_second": ' + 401 * "9" + "}}}",
        '{"stats": {"rtt": {"median": 1}}, "round_trips": [1]}',
    ],
    ids=["lists", "tables", "5000-digits", "401-digits", "no-trips"],
)
def test_what_no_program_writes_gave_a_traceback(reader: ModuleType, text: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(InputError, match="file"):
        reader.read(tmp_path / "file")


def test_a_rate_that_was_asked_for_was_taken_for_the_lines() -> None:
    found = iperf3.read(FIELD / "b5M.json")
    assert found.rate is None
    assert any("-b asked for 5 Mb/s; give --rate" in fact for fact in found.facts)
    with pytest.raises(InputError, match="how fast is the line"):
        completed(found)


def test_a_test_of_which_nothing_arrived_had_a_rate() -> None:
    with pytest.raises(InputError, match="nothing arrived"):
        iperf3.read(FIELD / "short-n10k.json")


def test_the_queue_that_round_trips_show_was_ignored() -> None:
    path = completed(iperf3.read(FIELD / "bufferbloat.json"))
    assert float(path.queue.removesuffix("B")) == pytest.approx(0.801 * 20.47e6 / 8, rel=1e-3)


def test_events_of_a_stream_and_lines_before_a_test_were_refused(tmp_path: Path) -> None:
    test = json.loads((FIELD / "twice.json").read_text().partition("\n}")[0] + "\n}")
    events = [{"event": key, "data": test[key]} for key in ("start", "end")]
    events.insert(1, {"event": "interval", "data": {"sum": {}}})
    lines = ["warning: this system does not seem to support IPv6", *map(json.dumps, events)]
    (tmp_path / "stream.json").write_text("\n".join(lines), encoding="utf-16")
    assert iperf3.read(tmp_path / "stream.json").rate == iperf3.read(FIELD / "twice.json").rate


def test_the_table_of_a_test_was_json_that_is_not_complete(tmp_path: Path) -> None:
    (tmp_path / "speed.txt").write_text(
        "[ ID] Interval           Transfer     Bitrate\n[  5]   0.00-1.00   sec  1.2 MBytes\n"
    )
    with pytest.raises(InputError, match="what iperf3 prints without --json"):
        iperf3.read(tmp_path / "speed.txt")


def test_the_hint_named_a_rate_that_half_of_the_sessions_do_not_carry(tmp_path: Path) -> None:
    (tmp_path / "line.txt").write_text("0 4\n300 0.5\n600 0.5\n")  # seconds and Mb/s
    line = mahimahi.read(tmp_path / "line.txt")
    given = {"measured": [line], "rtt": "60ms", "transports": [], "duration": "60s", "seeds": range(1, 21)}
    answers = [earlybird.plan(PlanRequest(bitrate=rate, **given)).answer for rate in ("1Mb/s", "400kb/s")]  # type: ignore[arg-type]
    hint = re.search(r"a film of (\d+) kb/s may get through", answers[0])
    assert hint
    assert 300 < int(hint[1]) < 500
    assert "start after" in answers[1]


@pytest.mark.parametrize("indent", [None, 2])
def test_tests_in_a_list_as_jq_writes_them_were_refused(tmp_path: Path, indent: int | None) -> None:
    test = json.loads((FIELD / "twice.json").read_text().partition("\n}")[0] + "\n}")
    (tmp_path / "all.json").write_text(json.dumps([{**test, "end": {}}, test], indent=indent))
    assert kind_of(tmp_path / "all.json") == "iperf3"
    assert iperf3.read(tmp_path / "all.json").rate == iperf3.read(FIELD / "twice.json").rate


def test_a_film_was_refused_for_the_rate_at_which_iperf3_sent_datagrams(tmp_path: Path) -> None:
    whole = {"bits_per_second": 3e6, "lost_percent": 0.0, "lost_packets": 0, "packets": 1000, "bytes": 1_000_000}
    (tmp_path / "udp.json").write_text(json.dumps({"end": {"sum": whole}}))
    found = iperf3.read(tmp_path / "udp.json")
    with pytest.raises(InputError, match=r"the line may be faster\. Give --rate"):
        earlybird.plan(PlanRequest(bitrate="4Mb/s", measured=[found], rtt="40ms"))
    assert not PlanRequest(bitrate="4Mb/s", measured=[found], rtt="40ms", rate="20Mb/s").path.may_be_faster
    planned = earlybird.plan(
        PlanRequest(
            bitrate="1Mb/s", measured=[found], rtt="40ms", duration="5s", seeds=[1], transports=[], beside="none"
        )
    )
    assert any("3.08 Mb/s is what iperf3 sent over UDP" in text for text in warnings(planned))


@pytest.mark.parametrize(("rate", "is_known"), [(1_048_000.0, False), (3e6, True)])
def test_the_rate_that_iperf3_sends_datagrams_at_was_taken_for_the_lines(
    tmp_path: Path, *, rate: float, is_known: bool
) -> None:
    whole = {"bits_per_second": rate, "lost_percent": 0.0, "lost_packets": 0, "packets": 1000, "bytes": 1_000_000}
    (tmp_path / "udp.json").write_text(json.dumps({"end": {"sum": whole}}))
    found = iperf3.read(tmp_path / "udp.json")
    assert (found.rate is not None) is is_known
    assert found.loss == 0


def test_datagrams_that_came_twice_made_a_share_of_losses_below_zero(tmp_path: Path) -> None:
    total = {"bytes": 6_250_000, "bits_per_second": 5e6, "lost_packets": -3, "packets": 4000, "lost_percent": -0.075}
    start = {"test_start": {"protocol": "UDP", "num_streams": 1, "target_bitrate": 5_000_000}}
    (tmp_path / "test.json").write_text(json.dumps({"start": start, "end": {"sum": total}}))
    found = iperf3.read(tmp_path / "test.json")
    assert found.loss == 0
    assert found.loss_sample == LossSample(0, 4000)


def test_the_direction_of_losses_was_not_reported() -> None:
    found = irtt.read(FIELD / "down-only.json.gz")
    assert found.loss == pytest.approx(0.049)
    assert any("0 on the way from irtt's client to its server and 49 on the way back" in fact for fact in found.facts)


# Captures


def capture(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(lzma.decompress((FIELD / f"{name}.pcap.xz").read_bytes()))
    return path


@pytest.mark.parametrize("name", ["caught-twice", "receiver-reordered", "keepalive", "port-reuse"])
def test_packets_that_were_not_lost_counted_as_lost(tmp_path: Path, name: str) -> None:
    assert pcap.read(capture(tmp_path, name)).loss == 0


def test_the_rate_of_an_idle_sender_was_taken_for_the_lines(tmp_path: Path) -> None:
    found = pcap.read(capture(tmp_path, "live-3Mbps-over-20Mbps"))
    assert found.rate is None
    assert any("what the sender had to send, not what the line has" in fact for fact in found.facts)


def test_a_capture_of_less_than_a_second_crashed(tmp_path: Path) -> None:
    found = pcap.read(capture(tmp_path, "short-crash"))
    assert found.rate == pytest.approx(11.8e6, rel=0.01)


@pytest.mark.parametrize("name", ["pppoe", "snap54"])
def test_wrapped_and_cut_packets_were_no_tcp(tmp_path: Path, name: str) -> None:
    plain, wrapped = (pcap.read(capture(tmp_path, one)) for one in ("eth", name))
    assert wrapped == plain


IPV4 = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, 0, 0, b"\x0a\x09\0\1", b"\x0a\x09\0\2")


def carried_by(protocol: int, payload: bytes) -> bytes:
    header = bytearray(IPV4)
    header[2:4] = (20 + len(payload)).to_bytes(2, "big")
    header[9] = protocol
    return bytes(header) + payload


def udp(port: int, payload: bytes) -> bytes:
    return carried_by(17, struct.pack(">HHHH", 50000, port, 8 + len(payload), 0) + payload)


MACS = bytes(12)
SNAP = b"\xaa\xaa\x03\0\0\0"
WRAPPINGS: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "vlan in vlan": (1, lambda ip: MACS + b"\x88\xa8\0\1\x81\0\0\2\x08\0" + ip),
    "mpls": (1, lambda ip: MACS + b"\x88\x47" + b"\0\1\0\x40" + b"\0\2\1\x40" + ip),
    "pppoe in vlan": (
        1,
        lambda ip: MACS + b"\x81\0\0\7\x88\x64\x11\0\0\1" + (len(ip) + 2).to_bytes(2, "big") + b"\0\x21" + ip,
    ),
    "gre": (101, lambda ip: carried_by(47, b"\x20\0\x08\0\0\0\0\1" + ip)),
    "erspan": (
        101,
        lambda ip: carried_by(47, b"\x10\0\x88\xbe\0\0\0\1" + bytes(8) + MACS + b"\x08\0" + ip),
    ),
    "ip in ip": (101, lambda ip: carried_by(4, ip)),
    "vxlan": (101, lambda ip: udp(4789, b"\x08\0\0\0\0\0\1\0" + MACS + b"\x08\0" + ip)),
    "geneve": (101, lambda ip: udp(6081, b"\0\0\x65\x58\0\0\1\0" + MACS + b"\x08\0" + ip)),
    "gtp": (101, lambda ip: udp(2152, b"\x30\xff" + len(ip).to_bytes(2, "big") + b"\0\0\0\1" + ip)),
    "vxlan at Linux's port": (101, lambda ip: udp(8472, b"\x08\0\0\0\0\0\1\0" + MACS + b"\x08\0" + ip)),
    "vxlan with a next protocol": (101, lambda ip: udp(4790, b"\x0c\0\0\1\0\0\1\0" + ip)),
    "l2tp": (101, lambda ip: udp(1701, b"\0\2\0\1\0\1\xff\x03\0\x21" + ip)),
    "l2tp with all fields": (
        101,
        lambda ip: udp(1701, b"\x4a\2\0\0\0\1\0\1" + bytes(4) + b"\0\3abc" + b"\xff\x03\0\x21" + ip),
    ),
    "raw of BSD": (12, lambda ip: ip),
    "pppoe without ethernet": (51, lambda ip: b"\x11\0\0\1" + (len(ip) + 2).to_bytes(2, "big") + b"\0\x21" + ip),
    "cisco hdlc": (104, lambda ip: b"\x0f\0\x08\0" + ip),
    "prism": (119, lambda ip: bytes(144) + b"\x08\1" + bytes(22) + SNAP + b"\x08\0" + ip),
    "ppi": (192, lambda ip: b"\0\0\x08\0\x69\0\0\0" + b"\x08\1" + bytes(22) + SNAP + b"\x08\0" + ip),
    "ppp": (9, lambda ip: b"\xff\x03\0\x21" + ip),
    "radiotap": (127, lambda ip: b"\0\0\x08\0\0\0\0\0" + b"\x88\x01" + bytes(22) + bytes(2) + SNAP + b"\x08\0" + ip),
    "nflog": (
        239,
        lambda ip: b"\2\0\0\0" + b"\x08\0\1\0abcd" + (len(ip) + 4).to_bytes(2, "little") + b"\x09\0" + ip,
    ),
}


def rewrapped(content: bytes, link: int, wrap: Callable[[bytes], bytes]) -> bytes:
    """Write a capture of Ethernet (little-endian) anew, with each IP packet wrapped otherwise."""
    parts, place = [content[:20], struct.pack("<I", link)], 24
    while place < len(content):
        *time, kept, sent = struct.unpack_from("<IIII", content, place)
        packet = wrap(content[place + 16 + 14 : place + 16 + kept])
        cut = sent - kept
        parts.append(struct.pack("<IIII", *time, len(packet), len(packet) + cut) + packet)
        place += 16 + kept
    return b"".join(parts)


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_tunnels_and_links_hid_tcp(tmp_path: Path, wrapping: str) -> None:
    plain = capture(tmp_path, "eth")
    link, wrap = WRAPPINGS[wrapping]
    (tmp_path / "wrapped.pcap").write_bytes(rewrapped(plain.read_bytes(), link, wrap))
    assert pcap.read(tmp_path / "wrapped.pcap") == pcap.read(plain)


@pytest.mark.parametrize(
    ("link", "wrap", "reason"),
    [
        (101, lambda ip: udp(5004, ip), "4000 are UDP"),
        (101, lambda ip: carried_by(50, ip), "4000 are IPsec, whose contents are encrypted"),
        (105, lambda ip: b"\x88\x41" + bytes(24) + ip, "4000 are encrypted Wi-Fi frames"),
        (1, lambda ip: MACS + b"\x08\0" + ip[:30], "4000 are packets that were cut before the end of their headers"),
        (195, lambda ip: ip, "4000 are frames of a link type that is not read"),
    ],
)
def test_the_reason_for_which_a_capture_is_refused_was_false(
    tmp_path: Path, link: int, wrap: Callable[[bytes], bytes], reason: str
) -> None:
    content = capture(tmp_path, "eth").read_bytes()
    (tmp_path / "other.pcap").write_bytes(rewrapped(content, link, wrap))
    with pytest.raises(InputError, match=reason):
        pcap.read(tmp_path / "other.pcap")


def test_measurements_without_a_rate_are_listed_in_the_error() -> None:
    with pytest.raises(InputError, match="So far: a fact"):
        completed(Measurements(facts=("a fact",)))


# Traces


def test_throughput_in_seconds_and_megabits_was_refused() -> None:
    found = mahimahi.read(FIELD / "cooked.txt")
    assert found.rate == pytest.approx(np.mean([4.0377, 4.0344, 2.9931, 1.2033, 0.4410, 3.7720]) * 1e6, rel=0.01)
    assert found.trace is not None
    assert found.trace[-1] == 3000


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("Timestamp,Speed,DL_bitrate,UL_bitrate\n2019.11.28_07.27.20,1,12000,5\n2019.11.28_07.27.21,1,6000,5\n", 9e6),
        ("time_ms;Mbps\n0;8\n500;4\n", 6e6),
        ("seconds throughput_bps\n0 2000000\n1 4000000\n", 3e6),
    ],
)
def test_throughput_by_the_names_of_columns(tmp_path: Path, text: str, rate: float) -> None:
    (tmp_path / "trace.csv").write_text(text)
    assert mahimahi.read(tmp_path / "trace.csv").rate == pytest.approx(rate, rel=0.01)


def test_a_mark_of_utf_8_made_a_trace_none() -> None:
    assert mahimahi.read(FIELD / "bom.down").rate == pytest.approx(14.88e6, rel=0.01)


def test_every_session_began_at_the_start_of_a_long_trace() -> None:
    path = completed(mahimahi.read(FIELD / "good-then-bad.mahi.gz").updated_with(Measurements(round_trip=0.06)))
    starts = path.starts(60.0)
    assert len(starts) == 20
    rates = [8 * 1500 * len(path.from_start(start, 60.0).trace or ()) / 60 for start in starts]
    assert sum(rate == pytest.approx(4e6, rel=0.01) for rate in rates) == 9
    assert sum(rate == pytest.approx(0.5e6, rel=0.01) for rate in rates) == 9
    assert path.starts(600.0) == (0,)


def test_the_scenario_of_a_plan_began_at_the_start_of_a_long_trace() -> None:
    trace = mahimahi.read(FIELD / "good-then-bad.mahi.gz")
    asked = PlanRequest(bitrate="300kb/s", rtt="60ms", measured=[trace], transports=["bbr"], duration="20s", seeds=[1])
    assert '"trace-start" = "random"' in scenario_file.text(earlybird.plan(asked))


# Films


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.mpd", '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"/>', "manifest of DASH"),
        ("a.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n", "playlist of HLS"),
    ],
)
def test_a_manifest_was_a_damaged_film(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(MediaError, match=f"is a {words} that names several renditions"):
        read_clip(tmp_path / name)


def test_metadata_that_is_not_utf_8_made_a_film_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with av.open(str(CLIP)) as source, av.open(str(path), "w") as film:
        film.metadata["title"] = "cafXX"
        streams = {stream.index: film.add_stream_from_template(stream) for stream in source.streams.video}
        for packet in source.demux(*source.streams.video):
            if packet.dts is not None:
                packet.stream = streams[packet.stream.index]
                film.mux(packet)
    content = path.read_bytes()
    assert b"cafXX" in content
    path.write_bytes(content.replace(b"cafXX", b"caf\xe9!"))
    assert read_clip(path).frames == read_clip(CLIP).frames


def test_a_film_whose_first_packet_is_not_shown_first_was_truncated() -> None:
    stream = SimpleNamespace(index=0)
    shared = {"stream": stream, "size": 100, "time_base": 0.04, "duration": 1, "is_corrupt": False, "is_keyframe": True}
    order = [52, *range(25, 52), *range(53, 75)]
    packets = [SimpleNamespace(**shared, pts=pts, dts=place) for place, pts in enumerate(order)]
    container = SimpleNamespace(start_time=round(52 * 0.04 * av.time_base), demux=lambda: iter(packets))
    _, begin, end = demultiplex(container, 0)  # type: ignore[arg-type]
    assert end - begin == pytest.approx(2.0)


def test_a_file_of_sound_was_refused_for_a_call(tmp_path: Path) -> None:
    path = shutil.copy(FIELD / "sample_opus.mp4", tmp_path)
    assert film_of(path, takes_sound=True).codec == "opus"
    with pytest.raises(MediaError, match="has no video stream"):
        film_of(path)
