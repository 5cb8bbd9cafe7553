import assert from 'node:assert/strict'
import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Database } from '../../dist/storage/database/database.js'
import { databaseFile } from '../../dist/storage/database/file.js'
import { Lock } from '../../dist/storage/lock.js'
import { grantFile } from '../../dist/storage/named-place.js'
import { areasOf, listDirectory, readDocument, statusAt } from '../../dist/storage/tree.js'
import { commit } from '../../dist/storage/commit.js'
import { monotonic } from '../../dist/time.js'
import { commitError, put } from '../fixtures/changes.ts'
import { insert, longTimeout, single, sql, storageError } from '../fixtures/database.ts'
import { beginWrite, databaseAt, filePlace } from '../fixtures/places.ts'
import { emptyDirectory } from '../fixtures/scratch.ts'

const open = (path: string, create = true) => {
  const database = databaseAt(path, { durability: 'full', lockTimeout: longTimeout })
  database.open(create)
  return database
}

/** Adds a row to the table `t`, which is made if it is missing. */
function addRow(database: Database): void {
  const transaction = beginWrite(database, longTimeout)
  transaction.execute([sql('CREATE TABLE IF NOT EXISTS t (x)'), insert(1)])
  transaction.commit()
  transaction.end()
}

const modeOf = (path: string) => lstatSync(path).mode & 0o777

test('a file and its directories are created for their owner only, with the lock beside the file', () => {
  const base = emptyDirectory()
  const directory = join(base, 'new/data')
  const database = open(join(directory, 'any name.db'))
  addRow(database)
  const lock = '.agent-memory/any name.db'
  assert.deepEqual(readdirSync(join(directory, lock)), ['queue.sqlite', 'turn.sqlite'])
  for (const name of ['..', '.', '.agent-memory', lock]) assert.equal(modeOf(join(directory, name)), 0o700, name)
  for (const name of ['any name.db', 'any name.db-wal', `${lock}/queue.sqlite`, `${lock}/turn.sqlite`]) {
    assert.equal(modeOf(join(directory, name)), 0o600, name)
  }
  database.close()
  assert.deepEqual(readdirSync(directory).sort(), ['.agent-memory', 'any name.db'])
})

test('an existing file and its directory keep their modes', () => {
  const directory = join(emptyDirectory(), 'shared')
  const path = join(directory, 'old.db')
  mkdirSync(directory)
  new DatabaseSync(path).close()
  chmodSync(path, 0o640)
  chmodSync(directory, 0o755)
  const database = open(path)
  addRow(database)
  assert.equal(single(database, 'SELECT count(*) FROM t'), 1n)
  assert.deepEqual([modeOf(path), modeOf(directory), modeOf(join(directory, '.agent-memory'))], [0o640, 0o755, 0o700])
  database.close()
})

test('symbolic links to an existing file or directory are followed once, when the file is granted', () => {
  const base = emptyDirectory()
  mkdirSync(join(base, 'real'))
  writeFileSync(join(base, 'real/file.db'), '')
  symlinkSync('real', join(base, 'directory'))
  symlinkSync('directory/file.db', join(base, 'link.db'))
  assert.deepEqual(grantFile(join(base, 'directory/a/new.db')), {
    path: join(base, 'real/a'),
    file: 'new.db',
    location: join(base, 'directory/a/new.db'),
  })
  const real = { path: join(base, 'real'), file: 'file.db' }
  for (const path of ['directory/file.db', 'link.db'].map((name) => join(base, name))) {
    assert.deepEqual(grantFile(path), { ...real, location: path })
  }
  addRow(open(join(base, 'link.db')))
  assert.deepEqual(readdirSync(base).sort(), ['directory', 'link.db', 'real'], 'the lock is beside the real file')
})

test('a symbolic link that leads nowhere, or appears after the grant, is refused', () => {
  const base = emptyDirectory()
  symlinkSync('missing', join(base, 'dangling.db'))
  mkdirSync(join(base, 'real'))
  for (const create of [true, false]) {
    const error = storageError(() => open(join(base, 'dangling.db'), create))
    assert.equal(error.code, 'invalid-path')
    assert.match(error.message, /dangling\.db` is not a file \(a symbolic link is not followed\)/)
  }
  const later = databaseAt(join(base, 'real/later.db'), { durability: 'full', lockTimeout: longTimeout })
  renameSync(join(base, 'real'), join(base, 'moved'))
  symlinkSync('moved', join(base, 'real'))
  assert.equal(storageError(() => later.open(true)).code, 'invalid-path')
})

test('a symbolic link in place of the lock directory is refused', () => {
  const base = emptyDirectory()
  mkdirSync(join(base, 'elsewhere'))
  symlinkSync('elsewhere', join(base, '.agent-memory'))
  const error = storageError(() => addRow(open(join(base, 'file.db'))))
  assert.equal(error.code, 'invalid-path')
  assert.ok(error.message.startsWith(`\`${join(base, '.agent-memory')}\` is not a directory`), error.message)
})

test('what is in the way of the lock is named by its path', () => {
  const base = emptyDirectory()
  const own = join(base, '.agent-memory')
  writeFileSync(own, 'mine')
  const refused = () => storageError(() => addRow(open(join(base, 'file.db')))).message
  assert.ok(refused().startsWith(`\`${own}\` is not a directory`), refused())
  rmSync(own)
  mkdirSync(own)
  writeFileSync(join(own, 'file.db'), 'mine')
  assert.ok(refused().startsWith(`\`${join(own, 'file.db')}\` is not a directory`), refused())
})

test('a path that no file can have is refused, and so is a directory in place of the file', () => {
  const base = emptyDirectory()
  mkdirSync(join(base, 'directory'))
  writeFileSync(join(base, 'file'), '')
  for (const [path, why] of [
    [join(base, 'directory'), /something other than a file/],
    [`${join(base, 'new')}/`, /path of a directory/],
    [`${base}/..`, /path of a directory/],
    [join(base, 'file/below'), /something other than a directory/],
    [`${base}/missing/../new`, /`\.\.` below/],
    [join(base, '.agent-memory'), /name is for the lock/],
    ['relative', /absolute/],
    [`${base}/a\0b`, /NUL/],
  ] as const) {
    const error = storageError(() => grantFile(path), path)
    assert.equal(error.code, 'invalid-path')
    assert.match(error.message, why)
  }
  const later = databaseAt(join(base, 'later'), { durability: 'full', lockTimeout: longTimeout })
  mkdirSync(join(base, 'later'))
  assert.equal(storageError(() => later.open(true)).code, 'invalid-path')
})

test('a place that is a file has one database, whatever its name, and no documents', () => {
  const base = emptyDirectory()
  writeFileSync(join(base, 'a.md'), '')
  const granted = filePlace(join(base, 'x.db'))
  const { name, location } = databaseFile(granted, 'memories.db', 'kept')
  assert.deepEqual([name, location], ['x.db', join(base, 'x.db')])
  for (const other of ['x.db', 'a.md']) {
    assert.equal(storageError(() => databaseFile(granted, other, 'kept')).code, 'not-granted')
  }
  const areas = areasOf(granted)
  assert.equal(statusAt(areas, 'documents', ''), undefined)
  assert.equal(listDirectory(areas, 'documents', ''), undefined)
  for (const work of [
    () => statusAt(areas, 'documents', 'a.md'),
    () => listDirectory(areas, 'documents', 'a'),
    () => readDocument(areas, 'documents', 'a.md', 10n),
  ]) {
    assert.equal(storageError(work).code, 'invalid-path')
  }
  assert.equal(commitError(() => commit(areas, [put('b.md', '')], 'full')).error.code, 'invalid-path')
  assert.deepEqual(readdirSync(base), ['a.md'])
  const own = join(base, '.agent-memory/x.db')
  const bookkeeping = { ...put('note', ''), val: { ...put('note', '').val, area: 'bookkeeping' as const } }
  commit(areas, [bookkeeping], 'full')
  assert.equal(modeOf(join(own, 'bookkeeping/note')), 0o600)
  const derived = databaseFile(granted, 'index.db', 'derived').directory
  assert.equal(join(derived.anchor, ...derived.segments), join(own, 'derived'))
})

test('each file of a directory has a lock of its own', () => {
  const base = emptyDirectory()
  const acquire = (name: string) => Lock.acquire(filePlace(join(base, name)).lock, { atHead: 0, total: 0 }, monotonic())
  const first = acquire('first.db')
  assert.equal(storageError(() => acquire('first.db')).code, 'busy')
  acquire('second.db').release()
  first.release()
  acquire('first.db').release()
})
