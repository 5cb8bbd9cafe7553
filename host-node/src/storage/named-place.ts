import { statSync } from 'node:fs'
import { dirname, isAbsolute, join, normalize, parse, sep } from 'node:path'
import { canonicalPath } from './canonical.ts'
import { StorageFailure } from './error.ts'
import type { Granted } from './tree.ts'

/** The host's own directory in a place: its lock, bookkeeping and derived databases. */
const own = '.agent-memory'

/** What SQLite keeps in a directory beside a database: the suffixes of names. */
const ofDatabase = ['', '-wal', '-shm', '-journal']

/** A granted directory with a label. */
export interface NamedPlace {
  readonly label: string
  /** Canonical as far as it existed when it was granted. */
  readonly path: string
  /** As it was given. */
  readonly location: string
  /** Whether it is for its owner alone. */
  readonly isPrivate: boolean
  /** The names of the databases that may be kept in it. */
  readonly databases: readonly string[]
}

/** A place that the component knows and that is not granted. */
export interface MissingPlace {
  readonly label: string
  /** What a person is told. */
  readonly missing: string
}

export type NamedPlaces = readonly (NamedPlace | MissingPlace)[]

/** Looks at a directory that need not exist. Symbolic links in its name are followed now, as far as it exists. */
export function grantDirectory(directory: string): Pick<NamedPlace, 'path' | 'location'> {
  const refused = (why: string) =>
    new StorageFailure('invalid-path', `cannot keep anything in \`${directory}\`: ${why}`)
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
      throw StorageFailure.from(error, `keep anything in \`${directory}\``)
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

/** The granted place of a label. */
export function findNamed(places: NamedPlaces, label: string): NamedPlace {
  const place = places.find((place) => place.label === label)
  if (place === undefined) throw new StorageFailure('not-granted', `this host knows no place \`${label}\``)
  if ('missing' in place) throw new StorageFailure('not-granted', place.missing)
  return place
}

/** The tree of a place. Its directory need not exist. */
export function namedTree({ path, location, isPrivate, databases }: NamedPlace): Granted {
  const { root: anchor } = parse(path)
  const segments = path.slice(anchor.length).split(sep)
  const root = { anchor, segments: segments.filter((segment) => segment !== ''), isPrivate }
  // A database's file must not be opened beside SQLite: closing it would let go of SQLite's locks.
  const ownNames = [own, ...databases.flatMap((name) => ofDatabase.map((suffix) => name.toLowerCase() + suffix))]
  return {
    location,
    documents: { ...root, ownNames },
    lock: { ...root, segments: [...root.segments, own] },
    databases,
  }
}
