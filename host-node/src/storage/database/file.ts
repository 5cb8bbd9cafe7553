import { randomBytes } from 'node:crypto'
import type { Kind } from '../../generated/component/interfaces/agent-memory-storage-database.js'
import type { Lockable } from '../lock.ts'
import type { Tree } from '../places.ts'

/** The file of a database, and its lock. `lock` and `check` work as long as the tree of its place is open. */
export interface DatabaseFile {
  readonly path: string
  /** The path of the file as a person would write it, for messages. */
  readonly location: string
  /** The place that writers of the database lock. Undefined for a derived database. */
  readonly lock: Lockable | undefined
  /** Checks that the file exists, and that no symbolic link leads to it. With `create`, makes a missing file. */
  readonly check: (create: boolean) => void
  /** Replaces the file of a derived database that SQLite cannot read by an empty one. */
  readonly replace: () => void
}

/** The database with a name in a place. Throws if the place has no such database or the name is invalid. */
export function databaseFile(tree: Tree, name: string, kind: Kind): DatabaseFile {
  const { path, location } = tree.database(name, kind)
  const check = (create: boolean) => tree.checkDatabase(name, kind, create ? temporary() : undefined)
  const replace = () => tree.replaceDerivedDatabase(name, temporary())
  return { path, location, lock: kind === 'kept' ? tree : undefined, check, replace }
}

/** A random number for the name of a temporary file, so that no other process uses the name. */
function temporary(): bigint {
  return randomBytes(8).readBigUInt64BE()
}
