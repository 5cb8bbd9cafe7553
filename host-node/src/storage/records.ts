import { statSync } from 'node:fs'
import { dirname, isAbsolute, join, normalize, parse, sep } from 'node:path'
import { canonicalPath } from './canonical.ts'
import { StorageFailure } from './failure.ts'
import type { Granted } from './tree.ts'
import type { Root } from './walk.ts'

/** The database of all agents' records. */
export const databaseName = 'memories.db'

/** The host's own directory: locks and bookkeeping. */
const own = '.agent-memory'

/** A file of a database must not be opened beside SQLite: closing it would let go of SQLite's locks. */
const ownNames: readonly string[] = [own, databaseName, 'memories.db-wal', 'memories.db-shm', 'memories.db-journal']

/** A granted directory of records. */
export interface Records {
  /** Canonical as far as it existed when it was granted. */
  readonly path: string
  /** As it was given. */
  readonly location: string
}

/** Grants a directory that need not exist. Symbolic links in its name are followed now, as far as it exists. */
export function grantRecords(directory: string): Records {
  const refused = (why: string) => new StorageFailure('invalid-path', `cannot keep records in \`${directory}\`: ${why}`)
  if (directory.includes('\0')) throw refused('its path has a NUL character')
  if (!isAbsolute(directory)) throw refused('it is not an absolute path')
  const absolute = directory.replace(/(?<=.)\/+$/, '')
  for (let above = absolute; ; above = dirname(above)) {
    let canonical
    try {
      canonical = canonicalPath(above)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if ((code === 'ENOENT' || code === 'ENOTDIR') && above !== dirname(above)) continue
      throw StorageFailure.from(error, `keep records in \`${directory}\``)
    }
    const rest = absolute.slice(above.length)
    if (rest.split(/[/\\]/).includes('..')) throw refused('it has a `..` below a directory that does not exist')
    if (canonical === undefined) throw refused('it leads to a path that is not UTF-8')
    if (!statSync(canonical).isDirectory()) {
      throw refused('something other than a directory stands there: move it away')
    }
    return { path: normalize(join(canonical, rest)), location: absolute }
  }
}

/** The directory, which need not exist. */
export function rootOf({ path }: Records): Root {
  const { root: anchor } = parse(path)
  const segments = path.slice(anchor.length).split(sep)
  return { anchor, segments: segments.filter((segment) => segment !== ''), isPrivate: true }
}

/** Its tree. */
export function recordsTree(records: Records): Granted {
  const root = rootOf(records)
  return { location: records.location, documents: { ...root, ownNames }, lock: below(root, own) }
}

/** The lock of those who write to the database. */
export function databaseLockOf(records: Records): Root {
  return below(rootOf(records), own, 'database')
}

function below(root: Root, ...names: string[]): Root {
  return { ...root, segments: [...root.segments, ...names] }
}
