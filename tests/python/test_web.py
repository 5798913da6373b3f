"""`earlybird web`: the answers of the server, and the page in a browser."""

from __future__ import annotations

import dataclasses
import lzma
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from conftest import HUNG, REPOSITORY
from earlybird.cli.application import application as program
from earlybird.extras import MissingPackageError
from earlybird.loading import resolve
from earlybird.planning.measured.kinds import kind_of
from earlybird.planning.planner import PlanRequest, plan
from earlybird.web import guard, jobs
from earlybird.web.answer import Answer
from earlybird.web.app import application
from earlybird.web.fields import ALL
from earlybird.web.server import is_loopback, listening, names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from httpx2 import Response

MEASURED: Final = Path(__file__).parent / "measured"
LINE: Final = {"bitrate": "1Mb/s", "rate": "10Mb/s", "rtt": "40ms", "duration": "20s", "seeds": "2"}
"""A form whose plan takes a second."""


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A browser without scripts; uploaded files are kept below a folder of the test."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with TestClient(application(names("127.0.0.1")), base_url="http://127.0.0.1:8600") as found:
        yield found


def ended(client: TestClient, address: str) -> str:
    """Wait until a plan is computed, and return its page."""
    for _ in range(600):
        page = str(client.get(address).text)
        if 'http-equiv="refresh"' not in page:
            return page
        time.sleep(0.1)
    raise AssertionError("the plan never ends")


def planned(
    client: TestClient, files: list[tuple[str, tuple[str, bytes]]] | None = None, **values: str
) -> tuple[str, str]:
    """Send a form, and return the address and the page of the plan."""
    answer = client.post("/plans", data={**LINE, **values}, files=files or [], follow_redirects=False)
    assert answer.status_code == 303, answer.text
    address = str(answer.headers["location"])
    return address, ended(client, address)


def error_at(answer: Response, field: str) -> str:
    """Return the error at a field, of which the page must have no other."""
    assert answer.status_code == 422, answer.text
    found = dict(re.findall(r'<p class="error" id="(\w+)-error">([^<]+)</p>', answer.text))
    assert list(found) == [field]
    return str(found[field])


def test_a_plan_is_shown_as_the_command_prints_it(client: TestClient, tmp_path: Path) -> None:
    address, page = planned(client)
    assert "Stay with cubic, your sender today: start after" in page
    assert "no other sender is noticeably quicker" in page
    assert '<th scope="row">cubic (today)</th>' in page
    assert "net.ipv4.tcp_congestion_control=cubic" in page
    assert 'value="40ms"' in page, "the form keeps what was typed"
    document = client.get(f"{address}/plan.json")
    assert document.headers["content-disposition"] == 'attachment; filename="plan.json"'
    assert document.json()["choice"] == "cubic"
    assert client.get(f"{address}/server.sh").text.startswith("#!/bin/sh")
    assert client.get(f"{address}/other.txt").status_code == 404
    scenario = tmp_path / "line.toml"
    scenario.write_text(client.get(f"{address}/line.toml").text, encoding="utf-8")
    assert resolve(scenario).run(1)["summary"]["duration_s"] > 20
    for query in ("", "?narrow", "?dark", "?narrow&dark"):
        picture = client.get(f"{address}/plan.svg{query}")
        assert picture.headers["content-type"] == "image/svg+xml"
        assert "<svg" in picture.text
        assert ("#15181c" in picture.text) == ("dark" in query)


def test_a_measurement_counts_whatever_its_kind(client: TestClient) -> None:
    files = [
        ("measured", ("ping.txt", (MEASURED / "ping-iputils.txt").read_bytes())),
        ("measured", ("speed.json.gz", (MEASURED / "iperf3-forward.json.gz").read_bytes())),
    ]
    _, page = planned(client, files, rate="", rtt="")
    assert "<li>ping: a round trip of 40.4 ms, the median" in page
    assert re.search(r"<li>iperf3: 9.9\d* Mb/s, what TCP got with its headers", page)
    assert "over 9.91 Mb/s, a round trip of 40.4 ms" in page
    assert "Used: ping.txt, speed.json.gz." in page


def test_a_film_is_sent_and_removed_when_the_plan_ends(client: TestClient, tmp_path: Path) -> None:
    film = (REPOSITORY / "media" / "test-clip.mp4").read_bytes()
    _, page = planned(client, [("clip", ("my film.mp4", film))], bitrate="")
    assert "my film.mp4" in page
    assert list(tmp_path.iterdir()) == []


def test_the_film_as_viewers_see_it_was_only_in_the_command(client: TestClient, tmp_path: Path) -> None:
    address, page = planned(client, watch="on", bitrate="1Mb/s", duration="5s")
    assert f'<source src="{address}/seen.mp4" type="video/mp4">' in page
    assert re.search(r'<figcaption id="film"[^>]*>0\.0 to 5\.0 s of session \d, .* Frozen pictures: cubic', page)
    assert re.search(r'<input type="checkbox" id="watch"[^>]* checked>', page)
    whole = client.get(f"{address}/seen.mp4")
    assert whole.headers["content-type"] == "video/mp4"
    assert whole.content[4:8] == b"ftyp"
    part = client.get(f"{address}/seen.mp4", headers={"range": "bytes=4-7"})
    assert (part.status_code, part.content) == (206, b"ftyp")
    assert str(tmp_path) not in page
    client.__exit__()
    assert list(tmp_path.iterdir()) == []


def test_a_film_was_kept_longer_than_its_plan(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MOST_KEPT", 2)
    first, _ = planned(client, watch="on", duration="2s")
    for _ in range(2):
        planned(client)
    assert client.get(f"{first}/seen.mp4").status_code == 404
    assert list(Path(tempfile.gettempdir()).glob("earlybird-film-*")) == []


def test_an_error_in_drawing_is_shown_in_the_place_of_the_film(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MissingPackageError("This needs the package av, which is not installed.")

    monkeypatch.setattr("earlybird.planning.planner.watch.watch", refuse, raising=False)
    address, page = planned(client, watch="on")
    assert "There is no film: This needs the package av, which is not installed." in page
    assert "Stay with cubic" in page
    assert client.get(f"{address}/seen.mp4").status_code == 404


def test_remarks_on_a_film_are_shown() -> None:
    found = plan(PlanRequest(bitrate="1Mb/s", rate="10Mb/s", rtt="40ms", duration="20s", seeds=[1]))
    clip = dataclasses.replace(found.stream.clip, states_length=False)
    shown = Answer.of(dataclasses.replace(found, stream=dataclasses.replace(found.stream, clip=clip)))
    assert shown.warnings == ["made-up film states no duration: it ends with its last frame, after 2.0 s."]


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ({"rate": ""}, "rate", "how fast is the line?"),
        ({"rate": "20 parsecs"}, "rate", "rate: `20 parsecs`"),
        ({"rtt": ""}, "rtt", "how long is the round trip?"),
        ({"rtt": "60"}, "rtt", "rtt = 60: a time above zero with its unit"),
        ({"loss": "150%"}, "loss", "loss = 150%: a share from 0 to 1"),
        ({"bitrate": ""}, "bitrate", "what is sent?"),
        ({"bitrate": "20Mb/s"}, "rate", "rate = 10.00 Mb/s: the film has 20.00 Mb/s"),
        ({"profile": "moon"}, "profile", "profile = moon: there is no such profile"),
        ({"goal": "theatre"}, "goal", "goal = theatre: one of live, call, vod, hls."),
        ({"baseline": "cubik"}, "baseline", "there is no transport `cubik`"),
        ({"transport": "bbr cubik"}, "transport", "there is no transport `cubik`"),
        ({"viewers": "none"}, "viewers", "viewers = none: a whole number from 1 to"),
        ({"viewers": "12"}, "rate", "rate = 10.00 Mb/s: the film has 1.00 Mb/s"),
        ({"beside": "party"}, "beside", "beside = party: none, upload"),
        ({"burst": "0"}, "burst", "burst = 0: a number of packets from 1."),
        ({"burst": "inf"}, "burst", "burst = inf"),
        ({"seeds": "2.5"}, "seeds", "seeds = 2.5: a whole number from 1 to"),
        ({"seeds": "1e300"}, "seeds", "seeds = 1e300: a whole number from 1 to"),
        ({"max_late": "x"}, "max_late", "max-late = x"),
        ({"duration": "-3s"}, "duration", "duration = -3s"),
        ({"queue": "much"}, "queue", "queue = much"),
        ({"outage": "2s@1s 2s"}, "outage", "outage = 2s: a length and a start"),
        ({"policer": "10Mb/s"}, "policer", "policer = 10Mb/s: a rate and the size"),
        ({"arq": "10%,8"}, "arq", "arq: `8` has no unit"),
    ],
)
def test_an_error_is_at_its_field(client: TestClient, values: dict[str, str], field: str, message: str) -> None:
    answer = client.post("/plans", data={**LINE, **values})
    assert error_at(answer, field).replace("&#39;", "'").startswith(message)
    assert f'id="{field}-error"' in answer.text
    assert re.search(rf'id="{field}"[^>]*aria-invalid="true"', answer.text)


def test_an_error_about_a_file_has_its_name_and_no_folder(client: TestClient, tmp_path: Path) -> None:
    answer = client.post("/plans", data=LINE, files=[("measured", ("../../etc/letter.txt", b"Dear reader,\n"))])
    assert error_at(answer, "measured").startswith("letter.txt is not what ping prints")
    answer = client.post("/plans", data={**LINE, "bitrate": ""}, files=[("clip", ("film.mp4", bytes(5000)))])
    assert error_at(answer, "clip").startswith("film.mp4 is not a video, or is damaged")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [b"#EXTM3U\n/etc/passwd\n\0", b"ffconcat version 1.0\nfile /etc/passwd\n", b"v=0\n"])
def test_a_playlist_does_not_open_files_of_the_server(client: TestClient, text: bytes) -> None:
    answer = client.post("/plans", data={**LINE, "bitrate": ""}, files=[("clip", ("film.m3u8", text))])
    assert error_at(answer, "clip") == "film.m3u8 is a text, not a film."


def test_a_page_of_another_name_is_refused(client: TestClient) -> None:
    assert client.get("/", headers={"host": "127.0.0.1:8600"}).status_code == 200
    assert client.get("/", headers={"host": "localhost"}).status_code == 200
    assert client.get("/", headers={"host": "[::1]:8600"}).status_code == 200
    assert client.get("/", headers={"host": "attacker.example:8600"}).status_code == 400
    assert client.post("/plans", data=LINE, headers={"host": "attacker.example"}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://attacker.example"},
        {"origin": "http://127.0.0.1:8000"},
        {"origin": "null"},
        {"origin": "http://[attacker"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_form_of_another_site_is_refused(client: TestClient, headers: dict[str, str]) -> None:
    for address in ("/plans", "/plans/any/cancel"):
        assert client.post(address, data=LINE, headers=headers).status_code == 403
    own = {"origin": "http://127.0.0.1:8600", "sec-fetch-site": "same-origin"}
    assert client.post("/plans", data=LINE, headers=own, follow_redirects=False).status_code == 303


def test_too_large_files_are_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(guard, "MOST_BYTES", 10_000)
    film = [("clip", ("film.mp4", bytes(20_000)))]
    assert client.post("/plans", data=LINE, files=film).status_code == 413
    streamed = (bytes(1000) for _ in range(20))
    head = {"content-type": "multipart/form-data; boundary=x"}
    assert client.post("/plans", content=streamed, headers=head).status_code == 413
    assert list(tmp_path.iterdir()) == []


def test_answers_allow_no_other_site(client: TestClient) -> None:
    page = client.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert not re.search(r'(?:src|href|action)="(?:https?:)?//', page.text)
    assert not re.search(r"<script(?! src=)|<style| style=| on\w+=", page.text), "the policy forbids what is inline"


def test_plans_wait_for_each_other_and_can_be_cancelled(client: TestClient, tmp_path: Path) -> None:
    long = {**LINE, "duration": "300s", "seeds": "1000"}
    addresses = []
    for _ in range(1 + jobs.MOST_WAITING):
        answer = client.post("/plans", data=long, files=[("clip", ("", b""))], follow_redirects=False)
        addresses.append(answer.headers["location"])
    refused = client.post("/plans", data=long)
    assert refused.status_code == 503
    assert f"{jobs.MOST_WAITING} plans wait already" in refused.text
    assert "1 plan is computed before this one." in client.get(addresses[1]).text
    assert "Simulated sessions of this step" in client.get(addresses[0]).text
    for address in addresses:
        client.post(f"{address}/cancel")
    assert all("Cancelled." in ended(client, address) for address in addresses)
    assert list(tmp_path.iterdir()) == []
    assert "Stay with cubic" in planned(client)[1]


def test_a_new_plan_replaces_the_one_of_the_same_page(client: TestClient) -> None:
    long = {**LINE, "duration": "300s", "seeds": "1000"}
    first = client.post("/plans", data=long, follow_redirects=False).headers["location"]
    name = re.search(r'name="replaces" value="([^"]+)" form="form"', client.get(first).text)
    assert name
    planned(client, replaces=name[1])
    assert "Cancelled." in client.get(first).text


def test_a_plan_that_is_no_longer_kept_is_not_found(client: TestClient) -> None:
    for address in ("/plans/gone", "/plans/gone/plan.svg", "/plans/gone/plan.json", "/plans/gone/line.toml"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert "This plan is no longer kept." in answer.text


def test_a_script_gets_the_parts_that_change(client: TestClient) -> None:
    script = {"hx-request": "true"}
    refused = client.post("/plans", data={**LINE, "rtt": ""}, headers=script)
    assert "<html" not in refused.text
    assert re.search(r'id="rtt-error" hx-swap-oob="true">how long', refused.text)
    assert re.search(r'id="rate-error" hx-swap-oob="true"></p>', refused.text), "an earlier error is removed"
    begun = client.post("/plans", data=LINE, headers=script)
    address = begun.headers["hx-push-url"]
    assert f'hx-get="{address}"' in begun.text
    ended(client, address)
    done = client.get(address, headers=script)
    assert (done.headers["hx-retarget"], done.headers["hx-reswap"]) == ("#result", "innerHTML")
    assert re.search(r'id="status"[^>]*role="status"[^>]*>Stay with cubic', done.text)


def test_the_form_takes_the_words_of_the_command(client: TestClient) -> None:
    page = client.get("/?bitrate=4Mb/s&loss=1%25&unknown=1").text
    assert "Rate of the link, such as 20Mb/s." in page
    assert "Queue of the link: 64kB, 500ms, 100 (packets), codel, … Default: rate × round trip." in page
    assert 'value="4Mb/s"' in page
    assert 'value="1%"' in page
    assert set(ALL) - {"measured", "watch"} <= set(import_module("inspect").signature(_command()).parameters)


def _command() -> Any:  # noqa: ANN401, as typer has commands
    return import_module("earlybird.cli.plan").command


def test_a_taken_port_is_an_error() -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(program, ["web", "--port", str(port)])
    assert done.exit_code == 2
    assert f"port = {port}: another program has it. Take another one, such as --port {port + 1}." in done.stderr


def test_an_address_of_another_machine_is_an_error_after_the_warning() -> None:
    done = CliRunner().invoke(program, ["web", "--host", "192.0.2.1", "--port", "0"])
    assert done.exit_code == 2
    assert "warning: host = 192.0.2.1: whoever reaches this address" in done.stderr
    assert "host = 192.0.2.1: cannot listen there" in done.stderr


def test_only_loopback_addresses_are_private() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "192.168.1.2", "example.org")] == [False] * 4
    assert socket.gethostname() in names("0.0.0.0")
    assert socket.gethostname() not in names("127.0.0.1")


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_the_server_answers_until_it_is_interrupted(sign: signal.Signals, code: int) -> None:
    command = [sys.executable, "-m", "earlybird", "web", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = re.match(r"Plans at (http://127\.0\.0\.1:\d+/) \(Ctrl-C ends it\)\n", server.stdout.readline())
        assert address
        with urllib.request.urlopen(address[1], timeout=HUNG) as page:
            assert "Compute the plan" in page.read().decode()
        server.send_signal(sign)
        assert server.wait(HUNG) == code
        assert server.stderr is not None
        assert "Traceback" not in server.stderr.read()


KINDS: Final = {
    "pcap": ["measured/sender-clean.pcap.xz", "measured/sender-lossy.pcapng.xz", "field/pppoe.pcap.xz"],
    "iperf3": ["measured/iperf3-forward.json.gz", "measured/iperf3-cut.json.gz", "field/nan.json", "field/twice.json"],
    "mahimahi": ["field/bom.down", "field/cooked.txt", "field/good-then-bad.mahi.gz"],
    "irtt": ["measured/irtt-bursty.json.gz", "field/down-only.json.gz"],
    "ping": [
        "measured/ping-quiet.txt",
        "field/ping-powershell-utf16.txt",
        "field/ping-log.txt",
        "field/fping-q.txt",
        "field/tcping.txt",
    ],
}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for kind, names in KINDS.items() for name in names])
def test_the_kind_of_a_file_is_found_by_its_content(name: str, kind: str, tmp_path: Path) -> None:
    path = Path(__file__).parent / name
    content = path.read_bytes()
    copy = tmp_path / "file"
    copy.write_bytes(lzma.decompress(content) if path.suffix == ".xz" else content)
    assert kind_of(copy) == kind


def test_the_name_of_a_host_does_not_make_pings_a_trace(tmp_path: Path) -> None:
    pings = (
        (MEASURED / "ping-iputils.txt").read_text(encoding="utf-8").replace("PING ", "PING speedtest.mbps.example ", 1)
    )
    copy = tmp_path / "file"
    copy.write_text(pings, encoding="utf-8")
    assert kind_of(copy) == "ping"
