import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StorageError, undefinedIfMissing } from './error.ts'

/** The markers of plugins, in the order in which a plugin makes them: it renames the first to the second. */
const markers = ['plugin.claim', 'plugin.owner']

/**
 * Checks that plugins do not own the place of a lock directory. A host calls it before it creates the lock file, and
 * again once it has the lock. `location` is the place for messages. `storage/files/src/owner.rs` has the protocol.
 *
 * Throws `read-only` if plugins own it. All hosts are tested with `tests/owners.json`.
 */
export function checkOwner(lockDirectory: string, location: string): void {
  for (const marker of markers) {
    if (undefinedIfMissing(() => isMarked(join(lockDirectory, marker)))) {
      throw new StorageError(
        'read-only',
        `\`${location}\` is written by plugins: end them, then run \`agent-memory hand-over --to hosts ${location}\``,
      )
    }
  }
}

/** Whether a marker is there and no copy: it holds the second of its own modification time. */
function isMarked(path: string): boolean {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (found?.isFile() !== true) return false
  const [seconds, nanoseconds] = [found.mtimeNs / 1_000_000_000n, found.mtimeNs % 1_000_000_000n]
  const text = `${seconds}\n`
  return nanoseconds === 0n && found.size === BigInt(text.length) && readFileSync(path, 'latin1') === text
}
