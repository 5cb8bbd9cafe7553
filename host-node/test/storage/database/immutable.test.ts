import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { closeTree } from '../../../dist/storage/places.js'
import { begin, count, shortTimeout, storageError, databaseWithTable, sql } from '../../fixtures/database.ts'
import { databaseIn, openPlace } from '../../fixtures/places.ts'
import { emptyDirectory, mountReadOnly } from '../../fixtures/scratch.ts'

const codeOf = (work: () => unknown, what?: string) => storageError(work, what).code

for (const journal of ['WAL', 'DELETE']) {
  test(`a database in \`${journal}\` mode can be read on a read-only medium`, (context) => {
    const base = emptyDirectory()
    const directory = join(base, 'made')
    mkdirSync(directory)
    const source = new DatabaseSync(join(directory, 'memories.db'))
    source.exec(
      `PRAGMA journal_mode = ${journal}; CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 2)`,
    )
    source.close()
    const at = join(base, 'a view')
    using _ = { [Symbol.dispose]: () => void spawnSync('umount', [at]) }
    const reason = mountReadOnly(directory, at)
    if (reason !== undefined) return context.skip(`a bind mount is not possible: ${reason}`)
    const database = databaseIn(at, { durability: 'full', lockTimeout: shortTimeout })
    database.open(true)
    assert.equal(count(database), 1n)
    begin(database, 'read').commit()
    const refused = storageError(() => begin(database, 'write'))
    assert.equal(refused.code, 'read-only')
    assert.match(refused.message, /cannot write `.*memories\.db`/)
    const tree = openPlace(at)
    assert.deepEqual(tree.list('documents', '', false), [])
    closeTree(tree)

    database.close()
    unlinkSync(join(directory, 'memories.db'))
    assert.equal(
      codeOf(() => database.open(true)),
      'read-only',
    )
  })
}

/** Makes a database in WAL mode with one row in its table `t`. */
function createDatabaseIn(directory: string): DatabaseSync {
  mkdirSync(directory)
  const source = new DatabaseSync(join(directory, 'memories.db'))
  source.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 2)')
  return source
}

/** Mounts a directory read-only, and returns its database. Skips the test if this system cannot. */
function mountedDatabase(directory: string, context: TestContext) {
  const at = `${directory} read-only`
  const reason = mountReadOnly(directory, at)
  if (reason !== undefined) context.skip(`a bind mount is not possible: ${reason}`)
  const database = reason === undefined ? databaseIn(at, { durability: 'full', lockTimeout: shortTimeout }) : undefined
  return { database, [Symbol.dispose]: () => void spawnSync('umount', [at]) }
}

test('a read fails with `busy` if a file that is read as immutable changes', (context) => {
  const directory = join(emptyDirectory(), 'made')
  createDatabaseIn(directory).close()
  using view = mountedDatabase(directory, context)
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
  assert.equal(count(database), 2n, 'the connection was not cached')
  database.close()
})

test('the error for a log beside a read-only database names the log', (context) => {
  const base = emptyDirectory()
  const open = createDatabaseIn(join(base, 'made'))
  const left = join(base, 'left')
  mkdirSync(left)
  for (const name of ['memories.db', 'memories.db-wal']) copyFileSync(join(base, 'made', name), join(left, name))
  open.close()
  using view = mountedDatabase(left, context)
  const { database } = view
  if (database === undefined) return
  const error = storageError(() => database.open(false))
  assert.equal(error.code, 'read-only')
  assert.match(error.message, /left changes in `.*memories\.db-wal`/)
})

for (const name of ['memories.db-wal', 'memories.db-shm']) {
  test(`the error for a symbolic link in place of \`${name}\` names it`, () => {
    const { at, base, database } = databaseWithTable()
    database.close()
    symlinkSync(join(base, 'away'), at(name))
    const error = storageError(() => database.open(false))
    assert.equal(error.code, 'invalid-path')
    assert.ok(error.message.includes(name), error.message)
  })
}
