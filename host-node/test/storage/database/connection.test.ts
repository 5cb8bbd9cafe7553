import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { journalMode } from '../../../dist/storage/database/connection.js'
import {
  begin,
  count,
  insert,
  storageError,
  emptyPlace,
  databaseWithTable,
  sql,
  write,
} from '../../fixtures/database.ts'
import { intercept } from '../../fixtures/scratch.ts'

test('new files and directories of a private place are for their owner only', () => {
  const umask = process.umask(0)
  try {
    const { at, database } = databaseWithTable()
    const transaction = begin(database, 'write')
    transaction.execute([insert(1)])
    const mode = (name: string) => statSync(at(name)).mode & 0o777
    const names = ['memories.db', 'memories.db-shm', 'memories.db-wal']
    const locks = ['queue.sqlite', 'turn.sqlite'].map((name) => `.agent-memory/${name}`)
    for (const name of [...names, ...locks]) assert.equal(mode(name), 0o600, name)
    for (const name of ['.', '..', '.agent-memory']) assert.equal(mode(name), 0o700, name)
    assert.deepEqual(readdirSync(at('')).sort(), ['.agent-memory', ...names], 'there are no other files')
    transaction.end()
  } finally {
    process.umask(umask)
  }
})

test('an existing directory keeps its mode, and new files in it are private', () => {
  const { at, open } = emptyPlace()
  mkdirSync(at('.agent-memory'), { recursive: true })
  const directories = ['', '.agent-memory']
  for (const name of directories) chmodSync(at(name), 0o755)
  const database = open()
  write(database, sql('CREATE TABLE t (x)'))
  const mode = (name: string) => statSync(at(name)).mode & 0o777
  assert.deepEqual(directories.map(mode), [0o755, 0o755])
  const files = ['memories.db', '.agent-memory/queue.sqlite', '.agent-memory/turn.sqlite']
  assert.deepEqual(files.map(mode), [0o600, 0o600, 0o600])
})

test('a new database is in WAL mode only if the WAL mode of this SQLite is reliable', () => {
  assert.equal(journalMode('3.51.2'), 'DELETE')
  assert.equal(journalMode('3.50.9'), 'DELETE')
  assert.equal(journalMode('3.51.3'), 'WAL')
  assert.equal(journalMode('3.52.0'), 'WAL')
  assert.equal(journalMode('4.0.0'), 'WAL')
  const { at, database } = databaseWithTable()
  database.close()
  const [mode] = new DatabaseSync(at('memories.db'), { returnArrays: true })
    .prepare('PRAGMA journal_mode')
    .get() as unknown as [string]
  assert.equal(mode, journalMode(process.versions['sqlite']!).toLowerCase())
})

test('SQLite does not create a database that is removed just before it is opened', (context) => {
  const { at, database, open } = databaseWithTable()
  database.close()
  intercept(context, 'accessSync', (path) => {
    if (path === at('memories.db')) rmSync(path as string)
  })
  assert.throws(() => open(), { code: 'io' })
  assert.ok(!existsSync(at('memories.db')))
})

test('a database that was removed and made again is opened again', () => {
  const { at, database, open } = databaseWithTable()
  write(database, insert(1))
  database.endCall()
  rmSync(at(''), { recursive: true })
  assert.equal(storageError(() => database.open(false)).code, 'not-found')
  write(open(), sql('CREATE TABLE t (x)'))
  database.open(false)
  assert.equal(count(database), 0n)
})

const codeOf = (work: () => unknown, what?: string) => storageError(work, what).code

test('a directory or a symbolic link in place of the database is refused', () => {
  const { at, base, open } = emptyPlace()
  mkdirSync(at('memories.db'), { recursive: true })
  assert.equal(codeOf(open), 'invalid-path')
  rmSync(at('memories.db'), { recursive: true })
  symlinkSync(join(base, 'away'), at('memories.db'))
  assert.equal(codeOf(open), 'invalid-path')
  assert.ok(!existsSync(join(base, 'away')))
})

test('opening a database that does not exist creates nothing', () => {
  const { at, base, open } = emptyPlace()
  const missing = storageError(() => open({}, false))
  assert.equal(missing.code, 'not-found')
  assert.equal(missing.message, `there is no database \`${at('memories.db')}\` yet`)
  assert.ok(!existsSync(join(base, 'a')))
})
