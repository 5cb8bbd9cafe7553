import type { Kind } from '../../generated/component/interfaces/agent-memory-storage-database.js'
import { StorageError } from '../error.ts'
import { segmentsOf } from '../paths.ts'
import type { GrantedPlace } from '../tree.ts'
import type { LockDirectory, Root } from '../directory.ts'

/** The file of a database, and its lock. */
export interface DatabaseFile {
  readonly name: string
  /** The directory of the file. */
  readonly directory: Root
  /** The path of the file as a person would write it, for messages. */
  readonly location: string
  /** The directory of the lock that its writers hold; undefined for a derived database. */
  readonly lock: LockDirectory | undefined
  /** For a derived database: the place's lock directory, which has the directory of derived databases. */
  readonly lockDirectory: Root | undefined
}

const derivedName = /^[a-z0-9][a-z0-9._-]*$/
/** The name of a file that SQLite adds to another database. */
const sqliteSuffix = /-(?:wal|shm|journal)$/

/** The database with a name in a place. Throws if the place has no such database or the name is invalid. */
export function databaseFile(place: GrantedPlace, name: string, kind: Kind): DatabaseFile {
  const { location: placeLocation, documents, lock, databases, file } = place
  if (kind === 'kept') {
    if (databases.includes(name)) {
      const location = file === undefined ? `${placeLocation.replace(/\/+$/, '')}/${name}` : placeLocation
      return { name: file ?? name, directory: documents, location, lock, lockDirectory: undefined }
    }
    throw new StorageError(
      'not-granted',
      `\`${placeLocation}\` has no database \`${name}\`: this host keeps none such there`,
    )
  }
  segmentsOf(name)
  if (!derivedName.test(name) || sqliteSuffix.test(name)) {
    const why = 'it consists of small letters, digits, `.`, `_` and `-`, and begins with a letter or a digit'
    throw new StorageError('invalid-path', `\`${name}\` is no name of a derived database: ${why}`)
  }
  const directory = { ...lock, segments: [...lock.segments, 'derived'] }
  return { name, directory, location: `${placeLocation} (derived/${name})`, lock: undefined, lockDirectory: lock }
}
