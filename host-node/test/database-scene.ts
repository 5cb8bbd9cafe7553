import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Database, DatabaseOptions } from '../dist/storage/database/database.js'
import type { Transaction } from '../dist/storage/database/transaction.js'
import { StorageFailure } from '../dist/storage/failure.js'
import { beginWrite, databaseIn } from './places.ts'
import { emptyDirectory } from './scratch.ts'

export type Value =
  | { tag: 'null' }
  | { tag: 'integer'; val: bigint }
  | { tag: 'real'; val: number }
  | { tag: 'text'; val: string }
  | { tag: 'blob'; val: Uint8Array }

export const patient = { atHead: 60_000, inAll: 60_000 }
export const impatient = { atHead: 30, inAll: 30 }

/** How its writers wait. */
const optionsOf = new WeakMap<Database, DatabaseOptions>()

/** A place that does not exist yet, in a directory that does. */
export function scene(base = emptyDirectory()) {
  const at = (name: string) => join(base, 'a/memories', name)
  const open = (options: Partial<DatabaseOptions> = {}, create = true) => {
    const all: DatabaseOptions = { durability: 'full', patience: patient, ...options }
    const database = databaseIn(join(base, 'a/memories'), all)
    optionsOf.set(database, all)
    database.open(create)
    return database
  }
  return { base, at, open }
}

/** A scene whose database has a table `t (id INTEGER PRIMARY KEY, x UNIQUE)`. */
export function sceneWithTable() {
  const made = scene()
  const database = made.open()
  write(database, sql('CREATE TABLE t (id INTEGER PRIMARY KEY, x UNIQUE)'))
  return { ...made, database }
}

export const integer = (val: number | bigint): Value => ({ tag: 'integer', val: BigInt(val) })
export const text = (val: string): Value => ({ tag: 'text', val })
export const blob = (val: Uint8Array): Value => ({ tag: 'blob', val })

export const sql = (text: string, ...parameters: Value[]) => ({ sql: text, parameters })
export const insert = (value: number) => sql('INSERT INTO t (x) VALUES (?1)', integer(value))

export function begin(database: Database, mode: 'read' | 'write'): Transaction {
  if (mode === 'read') return database.begin('read')
  const { patience = impatient, onWait } = optionsOf.get(database) ?? {}
  return beginWrite(database, patience, onWait)
}

export function write(database: Database, ...statements: ReturnType<typeof sql>[]) {
  const transaction = begin(database, 'write')
  try {
    const effects = transaction.execute(statements)
    transaction.commit()
    return effects
  } finally {
    transaction.end()
  }
}

/** The one value that a query gives. */
export function single(database: Database | Transaction, query: string): unknown {
  const value = database.query(sql(query), 1).rows[0]![0]!
  return value.tag === 'null' ? null : value.val
}

export const count = (database: Database | Transaction) => single(database, 'SELECT count(*) FROM t')

/** What the work is refused with. */
export function refusal(work: () => unknown, what = 'it'): StorageFailure {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof StorageFailure, String(error))
    return error
  }
  return assert.fail(`${what} was not refused`)
}
