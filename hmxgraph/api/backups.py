"""Backups: write a whole tenant to one file, and restore it."""

from collections.abc import Callable
from pathlib import Path

from hmxgraph.api._base import Face
from hmxgraph.graph import backups
from hmxgraph.protocol.reports import BackupReport, RestoreReport


class Backups(Face):
    """Backing up a tenant to a file, and restoring it."""

    def backup(self, path: str | Path, *, progress: Callable[[int], object] | None = None) -> BackupReport:
        """Write all data of the tenant except API keys to *path* as JSON lines, compressed if the name ends in .gz.

        The file appears only once it is complete. *progress* is called with the number of nodes written so far. If
        something is written to the tenant meanwhile, the backup starts again, up to three attempts in all.

        Raises:
            BackupRefused: concurrent writes occurred during every attempt.
            NotWritten: *path* cannot be written.

        """
        procedure = backups.backup(self._tenancy, Path(path), progress)
        return self._perform(procedure, whole=True)

    def restore(self, path: str | Path, *, progress: Callable[[int], object] | None = None) -> RestoreReport:
        """Load the backup at *path* into this tenant, and verify the result.

        The tenant must be empty, or hold only what an interrupted restore left. A backup of the same tenant is restored
        exactly: digest, counts, versions and history are those of the original. A backup of another tenant is
        replayed: events, recorded artifacts and task records are stored under this tenant, and memories, entities and
        compiled artifacts are derived from them again. Then memories that were superseded or deleted in the backup, and
        conflicts that were resolved, get that state again. Imports of fingerprints, and the states that adapters keep
        for frameworks, are not replayed.

        Raises:
            BackupRefused: the file is not an intact backup of this schema version, the tenant is not empty, or another
                restore into it has begun.

        """
        procedure = backups.restore(self._tenancy, Path(path), progress)
        return self._perform(procedure, whole=True)
