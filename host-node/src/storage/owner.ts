import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StorageError, undefinedIfMissing } from './error.ts'
import { lstatIfExists } from './directory.ts'

/** The markers of plugins, in the order in which a plugin makes them: it renames the first to the second. */
const markers = ['plugin.claim', 'plugin.owner']

/**
 * Checks that plugins do not own the place of a lock directory. A host calls it before it creates the lock file, and
 * again once it has the lock. `storage/files/src/owner.rs` has the protocol. Throws `read-only`.
 */
export function checkOwner(lockDirectory: string): void {
  for (const marker of markers) {
    if (undefinedIfMissing(() => isMarked(join(lockDirectory, marker)))) {
      throw new StorageError(
        'read-only',
        'the place is written by plugins: end them, then run `agent-memory hand-over --to hosts` with its directory',
      )
    }
  }
}

/** Whether a marker is there and no copy: it holds the second of its own modification time. */
function isMarked(path: string): boolean {
  if (lstatIfExists(path)?.isFile() !== true) return false
  const { mtimeNs } = lstatSync(path, { bigint: true })
  const [seconds, nanoseconds] = [mtimeNs / 1_000_000_000n, mtimeNs % 1_000_000_000n]
  return nanoseconds === 0n && readFileSync(path, 'latin1') === `${seconds}\n`
}
