import { statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, normalize, parse, sep } from 'node:path'
import { canonicalPath } from './canonical.ts'
import { attempt, StorageError } from './error.ts'
import { canonicalSoFar, Directories, type FamilyBase, familyDirectory } from './family-rules.ts'
import { isOwnName } from './paths.ts'
import type { GrantedPlace } from './tree.ts'

/**
 * The host's own directory in a granted directory or beside a granted file: lock, bookkeeping and derived databases.
 * Those of a file are below it in a directory with the file's name.
 */
const ownDirectory = '.agent-memory'

/** The suffixes of a database's files: SQLite adds files with these suffixes to its name. */
const databaseSuffixes = ['', '-wal', '-shm', '-journal']

/** A granted directory or file with a label. */
export interface NamedPlace {
  readonly label: string
  /** The canonical path of the directory, as far as it existed when it was granted. */
  readonly path: string
  /** The name of the file if only this file of the directory is granted. */
  readonly file?: string
  /** The absolute path before symbolic links are followed, for messages. */
  readonly location: string
  /** Whether only its owner may use it: modes 700 and 600. */
  readonly isPrivate: boolean
  /** The names of the databases that may be stored in it. */
  readonly databases: readonly string[]
}

/** A place that the component describes and that is not granted. */
export interface MissingPlace {
  readonly label: string
  /** The message for a person. */
  readonly missing: string
}

/** A file by its canonical directory, its name, and its path before symbolic links are followed, for messages. */
export interface FileLocation {
  readonly path: string
  readonly file: string
  readonly location: string
}

/** A granted family of places with one label. Either a registry lists them, or these are all. */
export interface FamilyPlace extends FamilyBase {
  readonly label: string
  readonly registry?: FileLocation
  /** Paths by name. */
  readonly places?: Readonly<Record<string, string>>
  /** The names of the databases that may be stored in each place. */
  readonly databases: readonly string[]
}

/** A place to be granted, by its description and its path. */
export interface WantedPlace {
  readonly label: string
  readonly kind: 'directory' | 'file' | 'family'
  /** The absolute path of the directory or the file. For a family, that of its registry. */
  readonly path: string
  readonly isPrivate: boolean
  /** The names of the databases that may be stored in it. */
  readonly databases: readonly string[]
  /** The home and the data directory of the user, for a family. */
  readonly home: string | undefined
  readonly dataDirectory: string | undefined
}

/**
 * A place that the file system refused when the memory was opened, as when a file is where its directory belongs. Each
 * call that needs it tries it again.
 */
export interface OccupiedPlace {
  readonly label: string
  readonly wanted: WantedPlace
}

export type NamedPlaces = readonly (NamedPlace | FamilyPlace | MissingPlace | OccupiedPlace)[]

/** Checks a directory, which need not exist yet. Symbolic links in its existing part are followed once, here. */
export function grantDirectory(directory: string): Pick<NamedPlace, 'path' | 'location'> {
  const invalidPathError = invalidPathErrorOf(directory)
  checkAbsolute(directory)
  const action = `keep anything in \`${directory}\``
  const absolute = directory.replace(/(?<=.)\/+$/, '')
  for (let above = absolute; ; above = dirname(above)) {
    let canonical
    try {
      canonical = canonicalPath(above)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if ((code === 'ENOENT' || code === 'ENOTDIR') && above !== dirname(above)) continue
      throw StorageError.from(error, action)
    }
    const rest = absolute.slice(above.length)
    if (rest.split(/[/\\]/).includes('..'))
      throw invalidPathError('it has a `..` below a directory that does not exist')
    if (canonical === undefined) throw invalidPathError('it leads to a path that is not UTF-8')
    if (!attempt(action, () => statSync(canonical).isDirectory())) {
      throw invalidPathError('something other than a directory stands there: move it away', 'ENOTDIR')
    }
    return { path: normalize(join(canonical, rest)), location: absolute }
  }
}

/** Checks a file, which need not exist yet. If it exists, symbolic links in its path are followed once, here. */
export function grantFile(path: string): FileLocation {
  const invalidPathError = invalidPathErrorOf(path)
  checkAbsolute(path)
  const name = basename(path)
  const isDirectory = path.endsWith('/') || path.endsWith(sep) || name === '.' || name === '..'
  if (isDirectory) throw invalidPathError('it is the path of a directory: name a file in it')
  const existing = attempt(`keep anything in \`${path}\``, () => canonicalFile(path))
  if (existing?.isFile === false)
    throw invalidPathError('something other than a file stands there: move it away', 'EISDIR')
  const canonical = existing === undefined ? join(grantDirectory(dirname(path)).path, name) : existing.path
  if (canonical === undefined) throw invalidPathError('it leads to a path that is not UTF-8')
  const file = basename(canonical)
  if (isOwnName(file, [ownDirectory])) throw invalidPathError('this name is for the lock: use another')
  return { path: dirname(canonical), file, location: path }
}

/** The canonical path of what a path leads to, or undefined if nothing is there. */
function canonicalFile(path: string): { path: string | undefined; isFile: boolean } | undefined {
  try {
    return { path: canonicalPath(path), isFile: statSync(path).isFile() }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

function checkAbsolute(path: string): void {
  if (path.includes('\0')) throw invalidPathErrorOf(path)('its path has a NUL character')
  if (!isAbsolute(path)) throw invalidPathErrorOf(path)('it is not an absolute path')
}

/** The detail tells that something is at the path which may be moved away while the host runs. */
function invalidPathErrorOf(path: string): (why: string, detail?: string) => StorageError {
  return (why, detail) => new StorageError('invalid-path', `cannot keep anything in \`${path}\`: ${why}`, detail)
}

/** Throws if a place lies inside another or around it. A place with the same label is ignored. */
export function requireApart(place: NamedPlace | FamilyPlace | OccupiedPlace, others: NamedPlaces): void {
  const directories = new Directories()
  for (const other of others.filter(({ label }) => label !== place.label))
    for (const path of pathsOf(other)) directories.add(path, other.label)
  for (const path of pathsOf(place)) {
    const near = directories.meeting(path)
    if (near === undefined) continue
    const why = `no place lies inside another, and ${near}`
    throw invalidPathErrorOf('location' in place ? place.location : path)(why)
  }
}

/** The paths of a place at which no other may be. */
export function pathsOf(place: NamedPlaces[number]): string[] {
  if ('path' in place) return [join(place.path, place.file ?? '')]
  if ('missing' in place) return []
  if ('wanted' in place) return [canonicalSoFar(place.wanted.path)]
  if (place.registry) return [join(place.registry.path, place.registry.file)]
  return Object.values(place.places ?? {}).flatMap((path) => {
    const meant = familyDirectory(path, place)
    return 'directory' in meant ? [meant.directory] : []
  })
}

/** The parts of a place: documents, lock, databases. It looks at no file, and the directory need not exist yet. */
export function namedTree({ path, file, location, isPrivate, databases }: NamedPlace): GrantedPlace {
  const { root: anchor } = parse(path)
  const segments = path.slice(anchor.length).split(sep)
  const root = { anchor, segments: segments.filter((segment) => segment !== ''), isPrivate }
  const lock = { ...root, segments: [...root.segments, ownDirectory], location }
  if (file !== undefined) {
    // Several files of one directory may be granted, so each has a lock of its own.
    const lockOfFile = { ...lock, segments: [...lock.segments, file] }
    return { location, documents: { ...root, isClosed: true }, lock: lockOfFile, databases, file }
  }
  // Only SQLite may open a database's files: closing any other handle would release SQLite's locks.
  const ownNames = [
    ownDirectory,
    ...databases.flatMap((name) => databaseSuffixes.map((suffix) => name.toLowerCase() + suffix)),
  ]
  return { location, documents: { ...root, ownNames }, lock, databases }
}
