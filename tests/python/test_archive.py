"""Archives of studies: the same study gives the same bytes, and whatever is not as it was is found and named."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import stat
import subprocess
import zipfile
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import REPOSITORY
from earlybird import _core
from earlybird.errors import InputError, StoreError
from earlybird.files import CHECKSUMS, files_of
from earlybird.result import Result
from earlybird.store import Store
from earlybird.study.archive import origin, rerun
from earlybird.study.archive.checking import check_archive
from earlybird.study.archive.comparison import differences
from earlybird.study.archive.container import MANIFEST, Container, write_container
from earlybird.study.archive.definitions import definition_files
from earlybird.study.archive.packing import listed_runs, pack
from earlybird.study.archive.reading import open_archive
from earlybird.study.archive.rerun import drawn
from earlybird.study.language.library import find_study, study_names
from earlybird.study.language.loading import load
from earlybird.study.runs.execution import make_runs
from study_parts import small_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from conftest import Finished

    Program = Callable[..., Finished]

own_commit = origin._commit

RUNS = 8
VERDICTS = "report/small-study/verdicts.csv"


@pytest.fixture(scope="module", autouse=True)
def commit() -> Iterator[str]:
    """A commit that stays the same while these tests run, whatever is committed meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(origin, "_commit", lambda: "0123456789abcdef0123456789abcdef01234567")
        yield origin.origin()["commit"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small study, its results, and its archive."""
    folder = tmp_path_factory.mktemp("archive")
    study = load(small_study(folder / "studies" / "small-study"))
    make_runs([study], "smoke", jobs=1, output=folder / "results")
    pack([study], "smoke", Store(folder / "results"), folder / "small.zip")
    return folder


@pytest.fixture(scope="module")
def repeated(made: Path) -> Path:
    """The folder of its runs, made again."""
    check = check_archive(made / "small.zip", jobs=1, output=made / "checks")
    assert (check.is_equal, check.sample.count, check.in_real_time) == (True, RUNS, 0)
    assert all(each.same_bytes for each in check.reruns)
    return made / "checks"


def contents(archive: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what an archive says of itself, and its members."""
    container = Container.open(archive)
    return dict(container.about), {name: container.read(name) for name in container.members}


def altered(archive: Path, to: Path, members: Mapping[str, bytes], **about: object) -> Path:
    """Write an archive anew in which some members have another content, as somebody would who writes its list too."""
    reported, own = contents(archive)
    write_container(to, {**reported, **about}, {**own, **members})
    return to


def rewritten(archive: Path, to: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Write an archive anew with other members, and its old list."""
    with zipfile.ZipFile(archive) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    with zipfile.ZipFile(to, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return to


def a_flow(archive: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> tuple[str, dict[str, bytes]]:
    """Change a table of the archive's first result; return its key and the members that are changed with it."""
    opened = open_archive(archive)
    key = str(opened.runs["key"][0])
    result = opened.result(key)
    tables = {name: result.table(name) for name in result.tables}
    sources = {name: partial(change if name == "flows" else pl.DataFrame, table) for name, table in tables.items()}
    files = files_of(Result(result.scenario, result.seed, result.summary, sources))
    return key, {f"results/{key}/{name}": content for name, content in files.items()}


def more_timeouts(table: pl.DataFrame) -> pl.DataFrame:
    """Add three timeouts to the first flow."""
    return table.with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(pl.col("rto_count") + 3).otherwise("rto_count").alias("rto_count")
    )


def test_the_same_study_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    second = tmp_path / "under" / "another-name.zip"
    exported = pack([load(made / "studies" / "small-study")], "smoke", Store(made / "results"), second)
    assert second.read_bytes() == (made / "small.zip").read_bytes()
    assert (exported.runs, exported.fingerprint) == (RUNS, open_archive(made / "small.zip").fingerprint)
    assert exported.bytes < 500_000


def test_an_archive_has_everything_that_a_reader_needs(made: Path) -> None:
    names = contents(made / "small.zip")[1].keys()
    assert names >= {"README.md", "CITATION.cff", "LICENSE-MIT", "LICENSE-APACHE", "runs.json", VERDICTS}
    assert {"studies/small-study/study.toml", "studies/small-study/small.toml"} <= names
    assert {"report/small-study.md", "report/small-study/frozen.svg", "report/small-study/frozen.csv"} <= names


def test_the_results_are_in_the_form_of_a_store(made: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(made / "small.zip") as file:
        file.extractall(tmp_path)
    key = next((tmp_path / "results").iterdir()).name
    assert Store(tmp_path / "results").load(key) == Store(made / "results").load(key)


def test_an_archive_is_read_as_tables(made: Path) -> None:
    archive = open_archive(made / "small.zip")
    assert archive.runs.columns == ["study", "part", "seed", "key", "restart", "n", "transport"]
    assert (archive.studies, archive.scale, archive.runs.height) == (("small-study",), "smoke", RUNS)
    key = archive.runs.filter(n=2, transport="sack-er", seed=2)["key"].item()
    own = Store(made / "results").load(key)
    assert archive.result(key) == own
    flows = archive.table("flows").filter(run_key=key)
    assert flows.select(own.flows.columns).equals(own.flows)
    assert set(archive.verdicts["holds"]) <= {"yes", "undecided", "reported"}
    with pytest.raises(InputError, match=r"no run of .* has a table 'wishes'"):
        archive.table("wishes")
    with pytest.raises(InputError, match="no result 'abc'"):
        archive.result("abc")


def test_what_is_not_repeated_once_more_is_compared_all_the_same(made: Path, repeated: Path) -> None:
    broken = shutil.copytree(repeated, made / "broken")
    key = next(broken.iterdir()).name
    Store(broken).discard(key)
    assert check_archive(made / "small.zip", jobs=1, output=broken).is_equal
    assert Store(broken).has(key)


def test_a_changed_number_is_found_and_named(made: Path, repeated: Path, tmp_path: Path) -> None:
    key, members = a_flow(made / "small.zip", more_timeouts)
    check = check_archive(altered(made / "small.zip", tmp_path / "a.zip", members), jobs=1, output=repeated)
    (different,) = check.different
    (found,) = different.differences
    assert (different.key, found.quantity, found.place, found.size, found.values) == (
        key,
        "flows.rto_count",
        "row 1",
        3,
        1,
    )
    assert found.archived == found.repeated + 3  # type: ignore[operator]
    assert different.runs[0]["axes"] == {"restart": False, "n": 1, "transport": "sack"}


def test_other_bytes_of_the_same_numbers_are_distinguished_from_the_same_file(
    made: Path, repeated: Path, tmp_path: Path
) -> None:
    key, members = a_flow(made / "small.zip", lambda table: table)
    buffer = io.BytesIO()
    pl.read_parquet(io.BytesIO(members[f"results/{key}/flows.parquet"])).write_parquet(buffer, compression="gzip")
    name, sums = f"results/{key}/flows.parquet", f"results/{key}/{CHECKSUMS}"
    old, new = (hashlib.sha256(content).hexdigest().encode() for content in (members[name], buffer.getvalue()))
    files = {name: buffer.getvalue(), sums: members[sums].replace(old, new)}
    same_code = check_archive(altered(made / "small.zip", tmp_path / "a.zip", files), jobs=1, output=repeated)
    assert [each.key for each in same_code.different] == [key]
    assert "bytes of the files" in same_code.different[0].differences[0].quantity


def test_a_verdict_that_its_results_do_not_give_is_named(made: Path, repeated: Path, tmp_path: Path) -> None:
    text = contents(made / "small.zip")[1][VERDICTS].decode()
    assert ",yes," in text
    changed = {VERDICTS: text.replace(",yes,", ",no,", 1).encode()}
    check = check_archive(altered(made / "small.zip", tmp_path / "a.zip", changed), sample=0, output=repeated)
    (found,) = check.judgement.revisions
    assert (found.item, found.column, found.archived, found.recomputed) == ("S-1", "holds", "no", "yes")
    assert not check.is_equal


def test_results_that_were_exchanged_are_reported(made: Path, tmp_path: Path) -> None:
    runs = json.loads(contents(made / "small.zip")[1]["runs.json"])
    runs[0]["key"], runs[1]["key"] = runs[1]["key"], runs[0]["key"]
    exchanged = altered(made / "small.zip", tmp_path / "a.zip", {"runs.json": json.dumps(runs).encode()})
    check = check_archive(exchanged, sample=0, output=tmp_path / "checks")
    assert [run["key"] for run in check.judgement.misplaced] == [run["key"] for run in runs[:2]]
    assert not check.is_equal


def test_of_another_code_version_the_numbers_are_compared(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_core, "code_version", lambda backend="sim": f"another-{backend}")
    check = check_archive(made / "small.zip", sample=2, jobs=1, output=tmp_path / "checks")
    assert [(each.same_code, each.is_equal) for each in check.reruns] == [(False, True)] * 2
    assert not check.judgement.revisions


def test_of_another_code_version_what_differs_is_shown(
    made: Path, repeated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rerun, "_is_same_code", lambda *_: False)
    _, members = a_flow(made / "small.zip", more_timeouts)
    check = check_archive(altered(made / "small.zip", tmp_path / "a.zip", members), jobs=1, output=repeated)
    assert [found.quantity for each in check.different for found in each.differences] == ["flows.rto_count"]


def test_a_sample_is_drawn_by_its_seed() -> None:
    keys = [f"{number:020x}" for number in range(100)]
    assert drawn(keys, 7, None, 1) == drawn(list(reversed(keys)), 7, None, 1)
    assert len(drawn(keys, 7, None, 1)) == 7
    assert drawn(keys, 7, None, 1) != drawn(keys, 7, None, 2)
    assert (len(drawn(keys, None, 0.051, 1)), len(drawn(keys, None, None, 1)), drawn(keys, 0, None, 1)) == (6, 100, [])
    assert drawn(keys, 500, None, 1) == keys


def test_a_truncated_archive_is_reported(made: Path, tmp_path: Path) -> None:
    whole = (made / "small.zip").read_bytes()
    for length in (0, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.zip").write_bytes(whole[:length])
        with pytest.raises(StoreError, match="damaged"):
            check_archive(tmp_path / "cut.zip", output=tmp_path / "checks")
    assert not (tmp_path / "checks").exists()


def test_a_flipped_bit_is_reported(made: Path, tmp_path: Path) -> None:
    whole = bytearray((made / "small.zip").read_bytes())
    with zipfile.ZipFile(made / "small.zip") as file:
        place = file.getinfo("README.md").header_offset + 200
    whole[place] ^= 1
    (tmp_path / "bad.zip").write_bytes(whole)
    with pytest.raises(StoreError, match=r"README\.md"):
        check_archive(tmp_path / "bad.zip", output=tmp_path / "checks")


def drop(members: dict[str, bytes]) -> None:
    members.pop(VERDICTS)


def add(members: dict[str, bytes]) -> None:
    members["foreign.txt"] = b"?"


def climb(members: dict[str, bytes]) -> None:
    members["../outside.txt"] = b"?"


def root(members: dict[str, bytes]) -> None:
    members["/tmp/outside.txt"] = b"?"


def change(members: dict[str, bytes]) -> None:
    members["README.md"] = members["README.md"].replace(b"earlybird", b"laterbird")


def grow(members: dict[str, bytes]) -> None:
    members["README.md"] += b"more"


def future(members: dict[str, bytes]) -> None:
    members[MANIFEST] = json.dumps({**json.loads(members[MANIFEST]), "format": 2}).encode()


def foreign(members: dict[str, bytes]) -> None:
    members.clear()
    members["a.txt"] = b"a"


def others(members: dict[str, bytes]) -> None:
    members[MANIFEST] = b'{"name": "an app", "format": 1}'


def poor(members: dict[str, bytes]) -> None:
    members[MANIFEST] = json.dumps({**json.loads(members[MANIFEST]), "studies": None}).encode()


def nest(members: dict[str, bytes]) -> None:
    members[MANIFEST] = 200_000 * b"[" + 200_000 * b"]"


def climb_by_a_study(members: dict[str, bytes]) -> None:
    members[MANIFEST] = json.dumps({**json.loads(members[MANIFEST]), "studies": ["../../../tmp"]}).encode()


def misstate(members: dict[str, bytes]) -> None:
    manifest = json.loads(members[MANIFEST])
    manifest["members"]["README.md"]["bytes"] += 1
    members[MANIFEST] = json.dumps(manifest).encode()


@pytest.mark.parametrize(
    ("harm", "reported"),
    [
        (nest, "manifest.json is not valid JSON"),
        (climb_by_a_study, "lacks something"),
        (misstate, "README.md has changed"),
        (drop, "1 of its members are missing, such as report/small-study/verdicts.csv"),
        (add, "does not know, such as foreign.txt"),
        (climb, "outside"),
        (root, "outside"),
        (change, "README.md has changed"),
        (grow, "README.md is longer than it should be"),
        (future, "form 2; this earlybird reads form 1"),
        (foreign, "no archive of a study"),
        (others, "another program's"),
        (poor, "lacks something"),
    ],
)
def test_a_bad_archive_is_reported_and_nothing_is_run(
    earlybird: Program, made: Path, tmp_path: Path, harm: Callable[[dict[str, bytes]], None], reported: str
) -> None:
    bad = rewritten(made / "small.zip", tmp_path / "bad.zip", harm)
    done = earlybird("study", "check", bad)
    assert (done.code, done.out) == (2, "")
    assert reported in done.err
    assert not (tmp_path / "checks").exists()
    assert not (tmp_path.parent / "outside.txt").exists()


def bomb(members: dict[str, bytes]) -> None:
    members["report/bomb.csv"] = bytes(300 << 20)
    document = json.loads(members[MANIFEST])
    document["members"]["report/bomb.csv"] = {"bytes": 300 << 20, "sha256": ""}
    members[MANIFEST] = json.dumps(document).encode()


def test_a_member_of_300_mb_in_an_archive_of_400_kb_is_not_read(made: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(made / "small.zip") as file:
        members = {name: file.read(name) for name in file.namelist()}
    bomb(members)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    with pytest.raises(StoreError, match=r"more than .* an archive of its size may have"):
        open_archive(tmp_path / "bomb.zip")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFDIR], ids=oct)
def test_a_member_that_calls_itself_a_link_or_device_is_unpacked_as_a_file(
    made: Path, tmp_path: Path, kind: int
) -> None:
    """An archive says so in the attributes of Unix; programs such as `unzip` make a link to the member's content."""
    forged, unpacked = tmp_path / "forged.zip", tmp_path / "unpacked"
    with zipfile.ZipFile(made / "small.zip") as old, zipfile.ZipFile(forged, "w") as new:
        for entry in old.infolist():
            about = zipfile.ZipInfo(entry.filename, entry.date_time)
            about.external_attr = (kind | 0o777) << 16
            new.writestr(about, old.read(entry.filename))
    archive = open_archive(forged)
    archive.container.unpack(archive.definitions, unpacked)
    files = [path for path in unpacked.rglob("*") if not path.is_dir()]
    assert len(files) == len(archive.definitions)
    assert all(stat.S_ISREG(path.lstat().st_mode) for path in files)


def test_a_pipe_in_the_place_of_an_archive_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    with pytest.raises(StoreError, match="is not a file"):
        open_archive(tmp_path / "pipe.zip")


def parquet(table: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    table.write_parquet(file)
    return file.getvalue()


def listed(archive: Path, **values: object) -> dict[str, bytes]:
    """Return a list of runs in which the first has other values."""
    first, *others = json.loads(contents(archive)[1]["runs.json"])
    return {"runs.json": json.dumps([{**first, **values}, *others]).encode()}


def written(archive: Path, **files: bytes) -> dict[str, bytes]:
    """Return files in the place of those of the first result, and a list of checksums that has them."""
    opened = open_archive(archive)
    key = str(opened.runs["key"][0])
    own = {**opened.files(key), **{name.replace("_", "."): content for name, content in files.items()}}
    del own[CHECKSUMS]
    lines = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in own.items())
    return {f"results/{key}/{name}": content for name, content in {**own, CHECKSUMS: lines.encode()}.items()}


def defined(archive: Path, old: str, new: str) -> dict[str, bytes]:
    """Return a definition that says something else."""
    name = "studies/small-study/study.toml"
    return {name: contents(archive)[1][name].decode().replace(old, new).encode()}


SCENARIO_PATH = 'scenario = "small.toml"'


@pytest.mark.parametrize(
    ("forge", "reported"),
    [
        (lambda archive: listed(archive, seed=[1]), r"runs\.json"),
        (lambda archive: listed(archive, axes=None), r"runs\.json"),
        (lambda archive: listed(archive, axes={"n": {"a": 1}}), r"runs\.json"),
        (lambda archive: listed(archive, key={}), r"runs\.json"),
        (lambda archive: listed(archive, key="../../x"), "no result '../../x'"),
        (lambda archive: written(archive, flows_parquet=b"garbage"), "it is not a table"),
        (lambda archive: written(archive, flows_parquet=parquet(pl.DataFrame({"a": [1]}))), "not what its run gives"),
        (lambda archive: written(archive, summary_json=b'{"seed": 1}'), "not what its run gives"),
        (lambda archive: written(archive, summary_json=b'{"seed": "1"}'), r"summary\.json"),
        (lambda archive: written(archive, scenario_json=b'{"model": 3}'), "no model 3"),
        (lambda archive: written(archive, scenario_json=b'{"model": "session", "case": 3}'), "must be a table"),
        (lambda _: {VERDICTS: b""}, r"verdicts\.csv"),
        (lambda _: {VERDICTS: bytes(range(256))}, r"verdicts\.csv"),
        (lambda _: {"studies/small-study/study.toml": b"a = " + b"[" * 100_000}, "not valid TOML"),
        (lambda archive: defined(archive, SCENARIO_PATH, 'scenario = "/etc/hostname"'), "/etc/hostname"),
        (lambda archive: defined(archive, SCENARIO_PATH, 'scenario = "../../../../x/../etc/hostname"'), "hostname"),
        (lambda archive: defined(archive, SCENARIO_PATH, 'scenario = "a\\u0000b"'), "null byte|outside"),
        (lambda archive: defined(archive, "seeds = 2", "seeds = 1000000000"), "more than 1,000,000 runs"),
        (lambda archive: defined(archive, "seeds = 2", "seeds = -2"), "at least"),
    ],
)
def test_an_archive_that_somebody_forged_ends_in_one_sentence(
    made: Path, tmp_path: Path, forge: Callable[[Path], dict[str, bytes]], reported: str
) -> None:
    forged = altered(made / "small.zip", tmp_path / "forged.zip", forge(made / "small.zip"))
    with pytest.raises((StoreError, InputError), match=reported):
        check_archive(forged, sample=0, output=tmp_path / "checks")


def test_an_archive_is_checked_in_an_empty_folder(
    earlybird: Program, made: Path, repeated: Path, tmp_path: Path
) -> None:
    done = earlybird("study", "check", made / "small.zip", "--output", repeated)
    assert done.code == 0
    assert "all 8 repeated: 8 the same to the last byte, 0 different" in done.out
    assert done.out.endswith("The archive holds what this program gives.\n")
    assert list(tmp_path.iterdir()) == []


def test_the_command_names_what_differs(earlybird: Program, made: Path, repeated: Path, tmp_path: Path) -> None:
    _, members = a_flow(made / "small.zip", more_timeouts)
    bad = altered(made / "small.zip", tmp_path / "a.zip", members)
    done = earlybird("study", "check", bad, "--output", repeated)
    assert done.code == 1
    assert "7 the same to the last byte, 1 different" in done.out
    assert "flows.rto_count" in done.out
    listed = earlybird("study", "check", bad, "--output", repeated, "--json")
    document = json.loads(listed.out)
    assert (listed.code, document["equal"], document["runs_repeated"]) == (1, False, RUNS)
    (different,) = document["runs_different"]
    assert [found["quantity"] for found in different["differences"]] == ["flows.rto_count"]


def test_a_sample_names_its_seed(earlybird: Program, made: Path, repeated: Path) -> None:
    done = earlybird("study", "check", made / "small.zip", "--share", "20%", "--seed", 5, "--output", repeated)
    assert done.code == 0
    assert "2 of 8, drawn with seed 5, repeated: 2 the same" in done.out
    both = earlybird("study", "check", made / "small.zip", "--share", "20%", "--sample", 1)
    assert both.code == 2


def test_runs_without_results_are_not_packed(made: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"8 of 8 runs have no result .* `earlybird study run small-study"):
        pack([load(made / "studies" / "small-study")], "smoke", Store(tmp_path), tmp_path / "a.zip")


def test_the_command_packs_nothing_that_is_not_complete(earlybird: Program, tmp_path: Path) -> None:
    done = earlybird("study", "export", "streaming-model")
    assert (done.code, done.out, list(tmp_path.iterdir())) == (2, "", [])
    assert "14 of 14 runs have no result in results; `earlybird study run streaming-model --scale smoke`" in done.err


def test_nothing_else_is_replaced(made: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.zip").write_bytes(b"years of work")
    with pytest.raises(InputError, match="is not replaced"):
        write_container(tmp_path / "thesis.zip", {}, {})
    with pytest.raises(InputError, match="is a folder"):
        write_container(tmp_path, {}, {})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.zip"]


def result(summary: dict[str, Any], **tables: pl.DataFrame) -> Result:
    """Return a result with these tables."""
    return Result({}, 1, summary, {name: partial(pl.DataFrame, table) for name, table in tables.items()})


def test_differences_are_reported_by_quantity() -> None:
    nan = float("nan")
    old = pl.DataFrame({"same": [1.0, nan], "x": [1.0, 2.0], "kind": ["a", "b"], "gone": [0, 0]})
    new = pl.DataFrame({"same": [1.0, nan], "x": [1.5, 4.0], "kind": ["a", "c"], "come": [0, 0]})
    found = differences(
        result({"code_version": "1", "success": 0.5, "late": None}, flows=old, short=old, lost=old),
        result({"code_version": "2", "success": 0.25, "late": None}, flows=new, short=new.head(1)),
    )
    reported = [(each.quantity, each.archived, each.repeated, each.place, each.values) for each in found]
    assert reported == [
        ("summary.success", 0.5, 0.25, "", 1),
        ("flows.x", 2.0, 4.0, "row 2", 2),
        ("flows.kind", "b", "c", "row 2", 1),
        ("flows.gone", "there", "missing", "", 1),
        ("flows.come", "missing", "there", "", 1),
        ("short: rows", 2, 1, "", 1),
        ("lost", "there", "missing", "", 1),
    ]
    assert found[1].size == 2.0


@pytest.mark.parametrize("name", study_names())
def test_a_study_means_the_same_runs_wherever_its_definition_lies(name: str, tmp_path: Path) -> None:
    study = find_study(name)
    for place, file in definition_files(study).items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(file.read_bytes())
    scale = next(iter(study.scales))
    moved = load(tmp_path / "studies" / name)
    assert list(listed_runs(moved, scale)) == list(listed_runs(study, scale))


def test_results_name_the_commit_of_the_checkout(made: Path, commit: str) -> None:
    about, members = contents(made / "small.zip")
    assert about["commit"] == commit
    assert f"commit: {commit}" in members["CITATION.cff"].decode()
    assert f"commit `{commit}`" in members["README.md"].decode()


def test_a_changed_checkout_is_no_commit_to_be_cited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin, "_commit", lambda: "0123456-dirty")
    assert "commit" not in origin.citation("Results", origin.origin())


def test_the_commit_is_that_of_the_checkout() -> None:
    head = subprocess.run(["git", "-C", REPOSITORY, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    assert (own_commit() or "").removesuffix(origin.DIRTY) == head.stdout.strip()
