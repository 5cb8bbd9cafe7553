import type { Kind } from '../../generated/component/interfaces/agent-memory-storage-database.js'
import { StorageFailure } from '../error.ts'
import { segmentsOf } from '../paths.ts'
import type { Granted } from '../tree.ts'
import type { Root } from '../directory.ts'

/** Where a database is, and what it is. */
export interface DatabaseFile {
  readonly name: string
  /** The directory that it is in. */
  readonly directory: Root
  /** As a person names the file. */
  readonly location: string
  /** Where the lock is that its writers hold; none of a derived one. */
  readonly lock: Root | undefined
  /** Where derived databases are: the directory of the place's lock. */
  readonly beside: Root | undefined
}

const derivedName = /^[a-z0-9][a-z0-9._-]*$/
/** A name of what SQLite keeps beside another database. */
const ofAnother = /-(?:wal|shm|journal)$/

/** The database of this name in a place. */
export function databaseFile(place: Granted, name: string, kind: Kind): DatabaseFile {
  const { location: around, documents, lock, databases } = place
  if (kind === 'kept') {
    if (databases.includes(name)) {
      const location = `${around.replace(/\/+$/, '')}/${name}`
      return { name, directory: documents, location, lock, beside: undefined }
    }
    throw new StorageFailure(
      'not-granted',
      `\`${around}\` has no database \`${name}\`: this host keeps none such there`,
    )
  }
  segmentsOf(name)
  if (!derivedName.test(name) || ofAnother.test(name)) {
    const why = 'it consists of small letters, digits, `.`, `_` and `-`, and begins with a letter or a digit'
    throw new StorageFailure('invalid-path', `\`${name}\` is no name of a derived database: ${why}`)
  }
  const directory = { ...lock, segments: [...lock.segments, 'derived'] }
  return { name, directory, location: `${around} (derived/${name})`, lock: undefined, beside: lock }
}
