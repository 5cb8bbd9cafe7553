import { Database, type DatabaseOptions } from '../dist/storage/database/database.js'
import { databaseFile } from '../dist/storage/database/file.js'
import type { Transaction } from '../dist/storage/database/transaction.js'
import { Lock, type Patience } from '../dist/storage/lock.js'
import { grantDirectory, type NamedPlace, namedTree } from '../dist/storage/named.js'
import type { Granted } from '../dist/storage/tree.js'
import { monotonic } from '../dist/time.js'

/** A granted directory with a database. Unless something else is said, it is private. */
export function place(directory: string, more: Partial<NamedPlace> = {}): Granted {
  return namedTree({
    label: 'guest',
    ...grantDirectory(directory),
    isPrivate: true,
    databases: ['memories.db'],
    ...more,
  })
}

/** The database of such a directory. */
export function databaseIn(directory: string, options: DatabaseOptions, name = 'memories.db'): Database {
  return new Database(databaseFile(place(directory, { databases: [name] }), name, 'kept'), options)
}

/** Begins a transaction that writes, under the lock of the database's place, which ends with it. */
export function beginWrite(database: Database, patience: Patience, onWait?: () => void): Transaction {
  const since = monotonic()
  const root = database.file.lock
  if (root === undefined) return database.begin('write')
  database.checkWritable()
  const lock = Lock.acquire(root, patience, since, onWait)
  try {
    return database.begin('write', () => lock.release(), { since, until: lock.atHeadUntil })
  } catch (error) {
    lock.release()
    throw error
  }
}
