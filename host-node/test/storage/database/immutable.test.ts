import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { areasOf, listDirectory } from '../../../dist/storage/tree.js'
import { begin, count, shortTimeout, storageError, databaseWithTable, sql } from '../../fixtures/database.ts'
import { databaseIn, place } from '../../fixtures/places.ts'
import { emptyDirectory, readOnlyView } from '../../fixtures/scratch.ts'

const codeOf = (work: () => unknown, what?: string) => storageError(work, what).code

for (const journal of ['WAL', 'DELETE']) {
  test(`a database in \`${journal}\` mode on a medium that can only be read is read`, (context) => {
    const base = emptyDirectory()
    const directory = join(base, 'made')
    mkdirSync(directory)
    const made = new DatabaseSync(join(directory, 'memories.db'))
    made.exec(
      `PRAGMA journal_mode = ${journal}; CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 2)`,
    )
    made.close()
    const at = join(base, 'a view')
    using _ = { [Symbol.dispose]: () => void spawnSync('umount', [at]) }
    const reason = readOnlyView(directory, at)
    if (reason !== undefined) return context.skip(`a bind mount is not possible: ${reason}`)
    const database = databaseIn(at, { durability: 'full', lockTimeout: shortTimeout })
    database.open(true)
    assert.equal(count(database), 1n)
    begin(database, 'read').commit()
    const refused = storageError(() => begin(database, 'write'))
    assert.equal(refused.code, 'read-only')
    assert.match(refused.message, /cannot write `.*memories\.db`/)
    assert.deepEqual(listDirectory(areasOf(place(at)), 'documents', ''), [])

    database.close()
    unlinkSync(join(directory, 'memories.db'))
    assert.equal(
      codeOf(() => database.open(true)),
      'read-only',
    )
  })
}

/** A database in WAL mode with a row in its table `t`. */
function madeIn(directory: string): DatabaseSync {
  mkdirSync(directory)
  const made = new DatabaseSync(join(directory, 'memories.db'))
  made.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 2)')
  return made
}

/** The database in a directory that is seen as on a medium that can only be read, where that is possible. */
function viewOf(directory: string, context: TestContext) {
  const at = `${directory} seen`
  const reason = readOnlyView(directory, at)
  if (reason !== undefined) context.skip(`a bind mount is not possible: ${reason}`)
  const database = reason === undefined ? databaseIn(at, { durability: 'full', lockTimeout: shortTimeout }) : undefined
  return { database, [Symbol.dispose]: () => void spawnSync('umount', [at]) }
}

test('what others change while it is read as if they did not is no answer', (context) => {
  const directory = join(emptyDirectory(), 'made')
  madeIn(directory).close()
  using view = viewOf(directory, context)
  const { database } = view
  if (database === undefined) return
  database.open(false)
  assert.equal(count(database), 1n)
  const reads = begin(database, 'read')
  const other = new DatabaseSync(join(directory, 'memories.db'))
  other.exec('INSERT INTO t VALUES (2, 3)')
  const rows = sql('SELECT x FROM t')
  for (const query of [() => reads.query(rows, 9), () => database.query(rows, 9)]) {
    const error = storageError(query)
    assert.equal(error.code, 'busy')
    assert.match(error.message, /changed while it was read/)
    other.exec('PRAGMA wal_checkpoint = TRUNCATE')
  }
  database.endCall()
  other.close()
  database.open(false)
  assert.equal(count(database), 2n, 'it was not kept')
  database.close()
})

test('changes that were left beside a database that cannot be written are named', (context) => {
  const base = emptyDirectory()
  const open = madeIn(join(base, 'made'))
  const left = join(base, 'left')
  mkdirSync(left)
  for (const name of ['memories.db', 'memories.db-wal']) copyFileSync(join(base, 'made', name), join(left, name))
  open.close()
  using view = viewOf(left, context)
  const { database } = view
  if (database === undefined) return
  const error = storageError(() => database.open(false))
  assert.equal(error.code, 'read-only')
  assert.match(error.message, /left changes in `.*memories\.db-wal`/)
})

for (const name of ['memories.db-wal', 'memories.db-shm']) {
  test(`what stands in place of \`${name}\` is named`, () => {
    const { at, base, database } = databaseWithTable()
    database.close()
    symlinkSync(join(base, 'away'), at(name))
    const error = storageError(() => database.open(false))
    assert.equal(error.code, 'invalid-path')
    assert.ok(error.message.includes(name), error.message)
  })
}
