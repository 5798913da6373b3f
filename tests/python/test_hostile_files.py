"""Files that somebody made to do harm: each is refused in one line, or read without harm, in little memory."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shlex
import shutil
import struct
from typing import TYPE_CHECKING

import pytest

import earlybird as library
from conftest import REPOSITORY, SMALL
from earlybird.clip import Clip, MediaError
from earlybird.errors import EarlybirdError, StoreError
from earlybird.files import CHECKSUMS
from earlybird.media import film_of, read_clip
from earlybird.planning.measured.text import text_of
from earlybird.state_file import LONGEST, written
from earlybird.store import Store
from test_cli_input import complaint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from earlybird.result import Result
    from test_cli_input import Program

GIGABYTES = 3 << 30
LINE = ("--rate", "5Mb/s", "--rtt", "50ms")


def sparse(path: Path, beginning: bytes = b"") -> Path:
    """Make a file of some gigabytes that takes no room on a disk."""
    path.write_bytes(beginning)
    os.truncate(path, GIGABYTES)
    return path


def bomb(path: Path) -> Path:
    """Make a compressed file of 100 kB, of which 100 MB come."""
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(100):
            file.write(bytes(1 << 20))
    return path


@pytest.mark.parametrize("option", ["--from-ping", "--from-iperf3", "--from-irtt", "--from-mahimahi"])
@pytest.mark.parametrize("make", [sparse, bomb], ids=["gigabytes", "compressed"])
def test_a_measurement_of_gigabytes_was_read_whole(
    earlybird: Program, tmp_path: Path, option: str, make: Callable[[Path], Path]
) -> None:
    if (make, option) == (bomb, "--from-mahimahi"):
        pytest.skip("traces are not compressed")
    path = make(tmp_path / "measured")
    rate = () if option == "--from-mahimahi" else ("--rate", "5Mb/s")
    message = complaint(earlybird("plan", "--bitrate", "1Mb/s", "--rtt", "50ms", *rate, option, path))
    assert "it is longer than 64 MiB" in message


def test_a_damaged_compressed_measurement_gave_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "measured.gz"
    whole = bytearray(gzip.compress(os.urandom(1000)))
    whole[12:40] = bytes(28)
    path.write_bytes(whole)
    with pytest.raises(EarlybirdError, match="it is not text"):
        text_of(path, "what ping prints")


def test_a_manifest_of_gigabytes_was_read_whole(earlybird: Program, tmp_path: Path) -> None:
    path = sparse(tmp_path / "film.m3u8", b"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nx\n")
    message = complaint(earlybird("plan", path, *LINE, "--goal", "vod"))
    assert "it is longer than 64 MiB" in message


def test_entities_of_a_manifest_that_multiply_are_refused(earlybird: Program, tmp_path: Path) -> None:
    """Ten entities, each of ten of the former."""
    entities = "".join(f'<!ENTITY e{one + 1} "{10 * f"&e{one};"}">' for one in range(10))
    path = tmp_path / "film.mpd"
    path.write_text(f'<!DOCTYPE m [<!ENTITY e0 "{100 * "a"}">{entities}]><MPD>&e10;</MPD>')
    assert "amplification" in complaint(earlybird("plan", path, *LINE, "--goal", "vod"))


@pytest.mark.parametrize(
    "content",
    [b'{"time_s":' * 100_000 + b"\n", b"x" * (LONGEST + 2), b"\xff\xfe\n", b'{"time_s"}\n', b'["time_s"]\n'],
    ids=["deep", "long", "binary", "broken", "list"],
)
def test_states_with_absurd_lines_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "states.jsonl"
    path.write_bytes(content)
    with pytest.raises(EarlybirdError, match="this is no file of `--statistics"):
        written(path)


def test_states_of_gigabytes_are_read_in_pieces(tmp_path: Path) -> None:
    with pytest.raises(EarlybirdError, match="this is no file of `--statistics"):
        written(sparse(tmp_path / "states.jsonl"))


@pytest.mark.parametrize(
    ("text", "words"),
    [("a = " + "[" * 100_000, "recursion"), ("[" + "a." * 50_000 + "b]\nx = 1", "recursion")],
    ids=["lists", "tables"],
)
def test_deep_toml_is_refused(earlybird: Program, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(text)
    assert words in complaint(earlybird("validate", path)).replace("cannot recurse further", "recursion")


def test_scenarios_and_studies_that_refer_to_themselves_are_refused(earlybird: Program, tmp_path: Path) -> None:
    circle = tmp_path / "circle.toml"
    circle.symlink_to(circle)
    assert "Too many levels of symbolic links" in complaint(earlybird("validate", circle))


# --------------------------------------------------------------------------------------------------- films that lie

CLIP = REPOSITORY / "media" / "test-clip.mp4"


def patched(box: bytes, offset: int, value: bytes) -> Callable[[Path], Path]:
    """Return what copies the clip with other bytes in a box's first occurrence."""

    def make(path: Path) -> Path:
        content = bytearray(CLIP.read_bytes())
        place = content.index(box) + len(box) + offset
        content[place : place + len(value)] = value
        path.write_bytes(content)
        return path

    return make


HUGE = struct.pack(">I", 0xFFFF_FFFF)
LIES: dict[str, Callable[[Path], Path]] = {
    # ISO/IEC 14496-12: offsets behind the type of the box.
    "a duration of 50 days": patched(b"mvhd", 16, HUGE),
    "a track of 50 days": patched(b"tkhd", 20, HUGE),
    "a media of 50 days": patched(b"mdhd", 16, HUGE),
    "a timescale of 0": patched(b"mdhd", 12, bytes(4)),
    "four billion frames": patched(b"stsz", 8, HUGE),
    "frames of 4 GB": patched(b"stsz", 4, HUGE),
    "four billion times": patched(b"stts", 4, HUGE),
    "a time between frames of years": patched(b"stts", 12, HUGE),
    "four billion chunks": patched(b"stco", 4, HUGE),
    "chunks behind the end": patched(b"stco", 8, HUGE),
    "pictures of 65535 x 65535": patched(b"avc1", 24, b"\xff\xff\xff\xff"),
    "an index of 4 GB": patched(b"moov", -8, HUGE),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_film_that_lies_is_refused_or_read_as_far_as_its_data_go(tmp_path: Path, lie: str) -> None:
    path = LIES[lie](tmp_path / "film.mp4")
    whole = read_clip(CLIP)
    try:
        clip = read_clip(path)
    except MediaError as error:
        refusal = str(error)
    else:
        check_is_part(clip, whole)
        return
    assert str(path) in refusal
    assert "\n" not in refusal


def check_is_part(clip: Clip, whole: Clip) -> None:
    """Check that a clip has no more frames and bytes than the file that it was made of."""
    assert len(clip.sizes) <= len(whole.sizes)
    assert clip.sizes.sum() <= CLIP.stat().st_size
    assert (clip.sizes >= 0).all()


def test_a_hint_quotes_the_name_of_a_film_for_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "film; touch hacked; $(touch hacked).mp4"
    shutil.copy(CLIP, path)
    monkeypatch.setattr("earlybird.media.LONGEST", 1.0)
    with pytest.raises(MediaError) as refused:
        film_of(path)
    command = str(refused.value).split("`")[1]
    assert shlex.split(command)[2] == path.name


# ------------------------------------------------------------------------------------------------ commands and names


@pytest.mark.parametrize("name", ["$(touch hacked)", "`touch hacked`", "a; touch hacked", "a' 'b", 'a"b', "a\nb"])
def test_names_in_scenarios_and_files_reach_no_shell(earlybird: Program, tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.toml"
    path.write_text(SMALL.replace('name = "video"', f"name = {json.dumps(name)}"))
    assert earlybird("run", path, "--set", "duration=2s", "--plot", tmp_path / f"{name}.svg").code in {0, 2}
    earlybird("emulate", "--scenario", path, "--flow", name, "--server", f"nothing-there {name}", "--", "nothing-there")
    assert not list(tmp_path.rglob("hacked"))


# ------------------------------------------------------------------------------------------- a tampered results folder


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with one result."""
    folder = tmp_path_factory.mktemp("kept")
    library.run(SMALL, overrides={"duration": "2s"}, output=folder)
    return next(folder.iterdir())


def write_checksums(folder: Path) -> None:
    """Write the checksums of the files as they are now, as somebody who tampers would."""
    files = sorted(path for path in folder.iterdir() if path.name != CHECKSUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / CHECKSUMS).write_text("".join(lines))


def device(name: str) -> Callable[[Path], None]:
    """Return what puts an endless file in the place of one."""

    def harm(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to("/dev/zero")

    return harm


def pipe(name: str) -> Callable[[Path], None]:
    """Return what puts a pipe without a writer in the place of a file."""

    def harm(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return harm


def content(name: str, *texts: bytes) -> Callable[[Path], None]:
    """Return what writes another content with its right checksum."""

    def harm(folder: Path) -> None:
        (folder / name).write_bytes(b"".join(texts))
        write_checksums(folder)

    return harm


def footer(folder: Path) -> None:
    """Claim a footer of 2 GB in a table."""
    table = folder / "flows.parquet"
    table.write_bytes(table.read_bytes()[:-8] + b"\xff\xff\xff\x7fPAR1")
    write_checksums(folder)


def outside(folder: Path) -> None:
    """List files outside of the folder."""
    with (folder / CHECKSUMS).open("a") as file:
        file.writelines(f"{64 * '0'}  {name}\n" for name in ("..", "../../etc/passwd"))


TAMPERED: dict[str, Callable[[Path], None]] = {
    "summary is a device": device("summary.json"),
    "checksums are a device": device(CHECKSUMS),
    "table is a pipe": pipe("flows.parquet"),
    "checksums are a pipe": pipe(CHECKSUMS),
    "checksums are long": lambda folder: os.truncate(folder / CHECKSUMS, GIGABYTES),
    "deep summary": content("summary.json", b'{"a":' * 100_000),
    "absurd numbers": content("summary.json", b'{"seed": 1e400, "code_version": 3}'),
    "scenario of another kind": content("scenario.json", b"[]"),
    "long footer": footer,
    "garbage for a table": content("flows.parquet", os.urandom(1000)),
    "files outside": outside,
}


@pytest.mark.parametrize("harm", TAMPERED.values(), ids=TAMPERED.keys())
def test_a_result_that_somebody_tampered_with_is_refused(
    kept: Path, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    folder = tmp_path / kept.name
    shutil.copytree(kept, folder)
    harm(folder)

    def read() -> Result:
        result = Store(tmp_path).load(kept.name)
        for name in result.tables:
            result.table(name)
        return result

    with pytest.raises(StoreError) as refused:
        read()
    assert "\n" not in str(refused.value)


def test_a_link_in_the_place_of_a_result_deletes_nothing_elsewhere(kept: Path, tmp_path: Path) -> None:
    elsewhere, store = tmp_path / "elsewhere", tmp_path / "results"
    elsewhere.mkdir()
    store.mkdir()
    (elsewhere / "thesis").write_text("years of work")
    (store / kept.name).symlink_to(elsewhere)
    with pytest.raises(StoreError):
        library.run(SMALL, overrides={"duration": "2s"}, output=store)
    assert (elsewhere / "thesis").read_text() == "years of work"


def test_names_of_a_tampered_result_are_no_script_of_a_page(earlybird: Program, kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / kept.name
    shutil.copytree(kept, folder)
    script = "<script>alert(1)</script>"
    document = (folder / "scenario.json").read_text().replace("two video flows and two file transfers", script)
    assert script in document
    (folder / "scenario.json").write_text(document)
    write_checksums(folder)
    page = tmp_path / "page.html"
    earlybird("plot", folder, "--output", page)
    assert not page.exists() or script not in page.read_text()
