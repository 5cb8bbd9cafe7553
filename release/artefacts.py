"""The directory of a release: archives with the same bytes from the same commit, checksums and a manifest."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import tarfile
import zipfile
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path


@dataclass(frozen=True)
class Artefact:
    """A file of a release."""

    name: str
    kind: str
    """What it is: program, wheel, npm, crate, plugin, source, image, bundle."""
    platform: str | None
    """The triple of its platform. None if it runs on each."""
    tried: str
    """What ran of it here, or why nothing did."""
    size: int
    sha256: str


class Release:
    """The directory with the artefacts, and their list."""

    def __init__(self, directory: Path, version: str, commit: str, seconds: int) -> None:
        """`seconds` is the time of the commit since 1970. Everything in an archive has it."""
        self.directory = directory
        self.version = version
        self.commit = commit
        self.seconds = seconds
        self.artefacts: list[Artefact] = []
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)

    def add(self, file: Path, kind: str, platform: str | None, tried: str) -> None:
        """Takes a file in, as it is."""
        target = self.directory / file.name
        if file != target:
            shutil.copy2(file, target)
        data = target.read_bytes()
        self.artefacts.append(
            Artefact(file.name, kind, platform, tried, len(data), hashlib.sha256(data).hexdigest())
        )
        print(f"{file.name}: {len(data):,} bytes; {tried}", flush=True)

    def add_archive(self, directory: Path, kind: str, platform: str, tried: str) -> None:
        """Packs a directory: a zip archive for Windows, a compressed tar archive for others."""
        if "windows" in platform:
            archive = self.directory / f"{directory.name}.zip"
            self._write_zip(archive, directory)
        else:
            archive = self.directory / f"{directory.name}.tar.gz"
            self._write_tar(archive, directory)
        self.add(archive, kind, platform, tried)

    def finish(self) -> None:
        """Writes `SHA256SUMS` and `manifest.json`."""
        ordered = sorted(self.artefacts, key=lambda artefact: artefact.name)
        sums = "".join(f"{artefact.sha256}  {artefact.name}\n" for artefact in ordered)
        (self.directory / "SHA256SUMS").write_text(sums)
        manifest = {
            "version": self.version,
            "commit": self.commit,
            "artefacts": [asdict(artefact) for artefact in ordered],
        }
        (self.directory / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")

    def _write_tar(self, archive: Path, directory: Path) -> None:
        def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = self.seconds
            entry.mode = 0o755 if entry.mode & 0o100 else 0o644
            return entry

        with archive.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, self.seconds) as compressed:
            with tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
                tar.add(directory, directory.name, filter=plain)

    def _write_zip(self, archive: Path, directory: Path) -> None:
        time = datetime.fromtimestamp(self.seconds, timezone.utc).timetuple()[:6]
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
            for file in sorted(directory.iterdir()):
                entry = zipfile.ZipInfo(f"{directory.name}/{file.name}", time)
                # Without a mode, only the owner could read the file after it is unpacked on Unix.
                entry.external_attr = (0o755 if file.stat().st_mode & 0o100 else 0o644) << 16
                packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
