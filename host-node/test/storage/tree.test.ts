import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { commit } from '../../dist/storage/commit.js'
import { areasOf, listDirectory, readDocument, statusAt } from '../../dist/storage/tree.js'
import { put, setup, tree, version } from '../fixtures/changes.ts'
import { storageError, databaseWithTable } from '../fixtures/database.ts'
import { place } from '../fixtures/places.ts'
import { emptyDirectory, substitute, write } from '../fixtures/scratch.ts'

test('a stamp has the size, the times and the inode, and changes with each write', () => {
  const { repository, areas } = setup()
  const path = join(repository, tree, 'a.md')
  write(path, 'abc')
  const stamp = () => {
    const { size, mtimeNs, ctimeNs, ino } = lstatSync(path, { bigint: true })
    return `${size}-${mtimeNs}-${ctimeNs}-${ino}`
  }
  const first = { kind: 'file', size: 3n, stamp: stamp() }
  assert.match(first.stamp, /^3-[1-9]\d{17,}-[1-9]\d{17,}-[1-9]\d*$/)
  assert.deepEqual(statusAt(areas, 'documents', 'a.md'), first)
  assert.deepEqual(statusAt(areas, 'documents', 'a.md'), first, 'reading does not change the stamp')
  assert.deepEqual(listDirectory(areas, 'documents', ''), [{ name: 'a.md', status: first }])
  commit(areas, [put('a.md', 'xyz', version('abc'))], 'full')
  const second = statusAt(areas, 'documents', 'a.md')!
  assert.deepEqual([second.stamp, second.stamp === first.stamp], [stamp(), false])
  // A write in place that keeps the length, and sets the old modification time again.
  const { atimeMs, mtimeMs } = lstatSync(path)
  writeFileSync(path, 'uvw')
  utimesSync(path, atimeMs / 1000, mtimeMs / 1000)
  assert.notEqual(statusAt(areas, 'documents', 'a.md')!.stamp, second.stamp)
})

test('the status of a path is a file, a directory, something else or nothing', () => {
  const { repository, areas } = setup()
  assert.equal(statusAt(areas, 'documents', ''), undefined)
  write(join(repository, tree, 'a/b.md'), '')
  symlinkSync('a', join(repository, tree, 'link'))
  const empty = { size: 0n, stamp: '' }
  const at = (path: string) => statusAt(areas, 'documents', path)
  assert.deepEqual(at(''), { kind: 'directory', ...empty })
  assert.deepEqual(at('a'), { kind: 'directory', ...empty })
  assert.equal(at('a/b.md')!.kind, 'file')
  assert.deepEqual(at('link'), { kind: 'other', ...empty })
  for (const missing of ['c', 'c/d', 'a/c']) assert.equal(at(missing), undefined, missing)
  for (const wrong of ['a/b.md/c', 'link/b.md', '../a', 'a//b.md', '.git']) {
    assert.equal(storageError(() => at(wrong), wrong).code, 'invalid-path')
  }
  const own = areasOf(place(emptyDirectory()))
  for (const name of ['memories.db', 'Memories.db-WAL', '.agent-memory']) {
    assert.equal(storageError(() => statusAt(own, 'documents', name)).code, 'invalid-path')
  }
  assert.equal(statusAt(areas, 'bookkeeping', 'a'), undefined)
})

test('a directory is listed in byte order, without temporary files and names that are not UTF-8', () => {
  const { repository, areas } = setup()
  const directory = join(repository, tree)
  for (const name of ['b.md', 'a.md', '\u{ffff}', '\u{10000}', '.x.agent-memory-tmp']) write(join(directory, name), '')
  if (process.platform === 'linux')
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff])]), '')
  const names = listDirectory(areas, 'documents', '')!.map(({ name }) => name)
  assert.deepEqual(names, ['a.md', 'b.md', '\u{ffff}', '\u{10000}'])
})

test('a writer that lists a directory removes what killed writers have left', () => {
  const { repository, areas } = setup()
  const temporary = join(repository, tree, '.killed.md.agent-memory-tmp')
  write(temporary, 'half')
  for (const [mayClean, stays] of [
    [undefined, true],
    [() => false, true],
    [() => true, false],
  ] as const) {
    assert.deepEqual(listDirectory(areas, 'documents', '', '.', mayClean), [])
    assert.equal(existsSync(temporary), stays)
  }
  // A directory of this name is not ours.
  mkdirSync(temporary)
  assert.deepEqual(
    listDirectory(areas, 'documents', '', '.', () => true),
    [],
  )
})

test('a directory of more than 100,000 entries is too large', (context) => {
  const { repository, areas } = setup()
  mkdirSync(join(repository, tree), { recursive: true })
  let entries = 100_000
  substitute(context, 'readdirSync', () => Array.from({ length: entries }, (_, n) => Buffer.from(`${n}`)))
  assert.deepEqual(listDirectory(areas, 'documents', ''), [], 'entries that do not exist are left out')
  entries++
  assert.equal(storageError(() => listDirectory(areas, 'documents', '')).code, 'too-large')
})

const codeOf = (work: () => unknown, what?: string) => storageError(work, what).code

test('a document cannot have the name of a database or of the lock directory', () => {
  const { base, at } = databaseWithTable()
  const areas = areasOf(place(join(base, 'a/memories')))
  assert.deepEqual(listDirectory(areas, 'documents', ''), [], "the host's own files are hidden")
  for (const own of ['memories.db', 'MEMORIES.DB-wal', '.agent-memory/turn.sqlite', '.Agent-Memory']) {
    const error = storageError(() => readDocument(areas, 'documents', own, 1n))
    assert.equal(error.code, 'invalid-path')
    assert.match(error.message, /keeps for itself/)
    assert.equal(
      codeOf(() => listDirectory(areas, 'documents', own)),
      'invalid-path',
    )
  }
  assert.equal(readDocument(areas, 'documents', 'memories.db.json', 10n), undefined)
  assert.ok(existsSync(at('memories.db')))
})
