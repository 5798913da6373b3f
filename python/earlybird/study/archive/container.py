"""
The file of an archive: a ZIP with a list of all of its members.

The same members give the same bytes: names are sorted, times are fixed. Nothing is trusted that is read: every member
has to be in the list, with its size and SHA-256, under a name that stays inside of a folder.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError, StoreError, because
from earlybird.files import temporary_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

KIND: Final = "study of earlybird"
FORMAT: Final = 1  # raised when archives change so that an older program cannot read them
MANIFEST: Final = "manifest.json"
EARLIEST: Final = (1980, 1, 1, 0, 0, 0)  # the first moment that a ZIP can name, as every member's time
MODE: Final = 0o100644 << 16  # a plain file that all may read, where a ZIP keeps the rights of Unix
MOST_TIMES: Final = 100  # the size of the file, which all members may have together: tables and pictures have up to 20
SMALL: Final = 64 << 20  # bytes that they may have whatever the size of the file
LARGEST_MANIFEST: Final = 64 << 20  # bytes of a list that is still read: 300,000 members
PIECE: Final = 1 << 20  # bytes that are read at a time where a member is not needed as a whole


@dataclass(frozen=True)
class Container:
    """An archive that is open for reading."""

    path: Path
    about: Mapping[str, Any]  # the manifest besides the members
    members: Mapping[str, Mapping[str, Any]]  # by name, the bytes and the SHA-256 that each must have
    fingerprint: str  # SHA-256 of the manifest, and so of the whole archive
    file: zipfile.ZipFile

    @classmethod
    def open(cls, path: Path) -> Container:
        """Open an archive that has the members that it should have, and no others."""
        file = _opened(path)
        try:
            manifest = b"".join(_pieces(path, file, MANIFEST, LARGEST_MANIFEST))
            about = _understood(path, manifest)
            members = about.pop("members")
            _check_members(path, file, members)
        except BaseException:
            file.close()
            raise
        return cls(path, about, members, hashlib.sha256(manifest).hexdigest(), file)

    def read(self, name: str) -> bytes:
        """Return a member's content; raise StoreError if it is not what it was."""
        return b"".join(self._pieces(name))

    def _pieces(self, name: str) -> Iterator[bytes]:
        """Yield a member's content; raise StoreError at the end if it is not what it was."""
        member, checksum, length = self.members[name], hashlib.sha256(), 0
        for piece in _pieces(self.path, self.file, name, member["bytes"]):
            checksum.update(piece)
            length += len(piece)
            yield piece
        if length != member["bytes"] or checksum.hexdigest() != member["sha256"]:
            raise _bad(self.path, f"its member {name} has changed since it was written")

    def verify(self) -> None:
        """Read every member; raise StoreError if one has changed."""
        for name in self.members:
            for _ in self._pieces(name):
                pass

    def unpack(self, names: Iterable[str], folder: Path) -> None:
        """Write members into a folder, under their own names."""
        for name in names:
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as file:
                file.writelines(self._pieces(name))


def write_container(path: Path, about: Mapping[str, Any], members: Mapping[str, bytes | Path]) -> None:
    """Write an archive, all or nothing, over another archive alone; `about` is the manifest's rest."""
    draft = temporary_place(path)
    try:
        _refuse_other_content(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(draft, about, members)
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write the archive {path}: {because(error)}.") from error
    finally:
        draft.unlink(missing_ok=True)


def _refuse_other_content(path: Path) -> None:
    """Raise `InputError` if a file in the archive's place is no archive: it may be a slip in the path."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file, such as {path / 'study.zip'}.")
    if path.exists():
        try:
            Container.open(path).file.close()
        except StoreError as error:
            raise InputError(f"{path} is there and is no archive of a study, so it is not replaced: {error}") from error


def _write(path: Path, about: Mapping[str, Any], members: Mapping[str, bytes | Path]) -> None:
    entries: dict[str, dict[str, Any]] = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in sorted(members):
            source = members[name]
            content = source if isinstance(source, bytes) else source.read_bytes()
            entries[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            file.writestr(_entry(name), content)
        document = {"kind": KIND, "format": FORMAT, **about, "members": entries}
        file.writestr(_entry(MANIFEST), (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())


def _entry(name: str) -> zipfile.ZipInfo:
    """Describe a member by its name alone, so that the same content gives the same bytes."""
    entry = zipfile.ZipInfo(name, EARLIEST)
    entry.create_system, entry.external_attr, entry.compress_type = 3, MODE, zipfile.ZIP_DEFLATED  # 3: Unix
    return entry


def _opened(path: Path) -> zipfile.ZipFile:
    if path.exists() and not path.is_file():
        raise StoreError(f"cannot read the archive {path}: it is not a file.")
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise _bad(path, "it is not a ZIP, or its end is missing") from error
    except OSError as error:
        raise StoreError(f"cannot read the archive {path}: {because(error)}.") from error


def _pieces(path: Path, file: zipfile.ZipFile, name: str, most: int) -> Iterator[bytes]:
    """Read a member of limited size, whatever its header claims."""
    left = most
    try:
        with file.open(name) as member:
            while piece := member.read(PIECE):
                left -= len(piece)
                if left < 0:
                    break
                yield piece
    except KeyError as error:
        raise StoreError(f"{path} is no archive of a study: it has no {name}.") from error
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError) as error:
        raise _bad(path, f"its member {name} cannot be read ({error})") from error
    except OSError as error:
        raise _bad(path, f"its member {name} cannot be read: {because(error)}") from error
    if left < 0:
        raise _bad(path, f"its member {name} is longer than it should be")


def _understood(path: Path, manifest: bytes) -> dict[str, Any]:
    try:
        about = json.loads(manifest)
    except (ValueError, RecursionError) as error:
        raise _bad(path, f"its {MANIFEST} is not valid JSON") from error
    if not isinstance(about, dict) or about.get("kind") != KIND:
        raise StoreError(f"{path} is no archive of a study: its {MANIFEST} is another program's.")
    if not isinstance(form := about.get("format"), int) or form > FORMAT:
        raise StoreError(
            f"{path} is an archive of form {form}; this earlybird reads form {FORMAT}. Install a newer one."
        )
    if not _is_complete(about):
        raise _bad(path, f"its {MANIFEST} lacks something, or says it in another way")
    return about


def _is_complete(about: Mapping[str, Any]) -> bool:
    texts = all(isinstance(about.get(name), str) for name in ("scale", "earlybird", "polars"))
    members, studies = about.get("members"), about.get("studies")
    return (
        texts
        and isinstance(about.get("code_versions"), dict)
        and isinstance(studies, list)
        and all(isinstance(name, str) and _is_safe(name) and "/" not in name for name in studies)
        and isinstance(members, dict)
        and all(isinstance(entry, dict) and isinstance(entry.get("bytes"), int) for entry in members.values())
        and all(isinstance(entry.get("sha256"), str) for entry in members.values())
    )


def _check_members(path: Path, file: zipfile.ZipFile, members: Mapping[str, Any]) -> None:
    names = file.namelist()
    if unsafe := [name for name in (*names, *members) if not _is_safe(name)]:
        raise _bad(path, f"its member {unsafe[0]!r} would lie outside of a folder that it is unpacked into")
    if len({*names}) < len(names):
        raise _bad(path, "it has two members of one name")
    if missing := members.keys() - {*names}:
        raise _bad(path, f"{len(missing)} of its members are missing, such as {min(missing)}")
    if foreign := {*names} - members.keys() - {MANIFEST}:
        raise _bad(path, f"it has members that its {MANIFEST} does not know, such as {min(foreign)}")
    size, most = sum(member["bytes"] for member in members.values()), SMALL + MOST_TIMES * path.stat().st_size
    if size > most:
        raise _bad(
            path, f"its members have {size:,} bytes, more than the {most:,} that an archive of its size may have"
        )


def _is_safe(name: str) -> bool:
    """Return whether a member's name is a plain path downwards."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and not {*"\\:\0"} & {*name}


def _bad(path: Path, reason: str) -> StoreError:
    return StoreError(f"the archive {path} is damaged: {reason}. Fetch it once more.")
