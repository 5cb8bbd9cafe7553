import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { commit } from '../../dist/storage/commit.js'
import { Lock } from '../../dist/storage/lock.js'
import { findRepository } from '../../dist/storage/repository.js'
import { areasOf, listDirectory, readDocument, statusAt } from '../../dist/storage/tree.js'
import { monotonic } from '../../dist/time.js'
import { copy, failure, put, remove, rename, setup, tree, version } from '../fixtures/changes.ts'
import { refusal } from '../fixtures/database.ts'
import { place } from '../fixtures/places.ts'
import { emptyDirectory, emptyRepository, intercept, readOnlyView, substitute, write } from '../fixtures/scratch.ts'

test('a stamp says size, times and inode, and is another one after a write', () => {
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
  assert.deepEqual(statusAt(areas, 'documents', 'a.md'), first, 'to read is no write')
  assert.deepEqual(listDirectory(areas, 'documents', ''), [{ name: 'a.md', status: first }])
  commit(areas, [put('a.md', 'xyz', version('abc'))], 'full')
  const second = statusAt(areas, 'documents', 'a.md')!
  assert.deepEqual([second.stamp, second.stamp === first.stamp], [stamp(), false])
  // In place and of the same length, with the old time put back.
  const { atimeMs, mtimeMs } = lstatSync(path)
  writeFileSync(path, 'uvw')
  utimesSync(path, atimeMs / 1000, mtimeMs / 1000)
  assert.notEqual(statusAt(areas, 'documents', 'a.md')!.stamp, second.stamp)
})

test('what stands at a path is a file, a directory, something else or nothing', () => {
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
    assert.equal(refusal(() => at(wrong), wrong).code, 'invalid-path')
  }
  const own = areasOf(place(emptyDirectory()))
  for (const name of ['memories.db', 'Memories.db-WAL', '.agent-memory']) {
    assert.equal(refusal(() => statusAt(own, 'documents', name)).code, 'invalid-path')
  }
  assert.equal(statusAt(areas, 'bookkeeping', 'a'), undefined)
})

test('a directory is listed in byte order, with what has a name that a path can give', () => {
  const { repository, areas } = setup()
  const directory = join(repository, tree)
  for (const name of ['b.md', 'a.md', '\u{ffff}', '\u{10000}', '.x.agent-memory-tmp']) write(join(directory, name), '')
  if (process.platform === 'linux')
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff])]), '')
  const names = listDirectory(areas, 'documents', '')!.map(({ name }) => name)
  assert.deepEqual(names, ['a.md', 'b.md', '\u{ffff}', '\u{10000}'])
})

test('a directory has a bound', (context) => {
  const { repository, areas } = setup()
  mkdirSync(join(repository, tree), { recursive: true })
  let entries = 100_000
  substitute(context, 'readdirSync', () => Array.from({ length: entries }, (_, n) => Buffer.from(`${n}`)))
  assert.deepEqual(listDirectory(areas, 'documents', ''), [], 'none of them is there')
  entries++
  assert.equal(refusal(() => listDirectory(areas, 'documents', '')).code, 'too-large')
})

test('a renamed document is the old file under another name', () => {
  const { repository, areas } = setup()
  const at = (path: string) => join(repository, tree, path)
  write(at('a.md'), 'text')
  const { ino } = lstatSync(at('a.md'))
  const changes = [rename('a.md', 'b/c/d.md', version('text')), put('a2.md', '')]
  assert.deepEqual(commit(areas, changes, 'full'), [version('text'), version('')])
  assert.ok(!existsSync(at('a.md')))
  assert.deepEqual([lstatSync(at('b/c/d.md')).ino, readFileSync(at('b/c/d.md'), 'utf8')], [ino, 'text'])
  // What it leaves and what goes away with it in the same commit.
  const more = [copy('b/c/d.md', 'kept.md', version('text')), rename('b/c/d.md', 'a.md', version('text'))]
  assert.deepEqual(commit(areas, more, 'full'), [version('text'), version('text')])
  assert.notEqual(lstatSync(at('kept.md')).ino, lstatSync(at('a.md')).ino)
  assert.deepEqual(readdirSync(at('b/c')), [])
})

for (const [from, to, code] of [
  ['missing.md', 'c.md', 'version-mismatch'],
  ['missing/a.md', 'c.md', 'version-mismatch'],
  ['b.md', 'c.md', 'version-mismatch'],
  ['a.md', 'b.md', 'already-exists'],
  ['a.md', 'directory', 'already-exists'],
  ['a.md', 'link.md', 'already-exists'],
  ['a.md', 'a.md', 'invalid-path'],
  ['a.md', 'a.md/below', 'invalid-path'],
  ['a.md', '../c.md', 'invalid-path'],
  ['a.md', 'first', 'invalid-path'],
  ['a.md', 'first/x.md', 'invalid-path'],
  ['first/x.md', 'c.md', 'invalid-path'],
  ['directory', 'c.md', 'invalid-path'],
  ['link.md', 'c.md', 'invalid-path'],
] as const) {
  test(`a rename of \`${from}\` to \`${to}\` is refused with \`${code}\` and leaves all as it was`, () => {
    const { repository, areas } = setup()
    write(join(repository, tree, 'a.md'), 'text')
    write(join(repository, tree, 'b.md'), 'saved by an editor')
    mkdirSync(join(repository, tree, 'directory'))
    symlinkSync('a.md', join(repository, tree, 'link.md'))
    const before = readdirSync(join(repository, tree))
    const changes = [put('first/x.md', ''), rename(from, to, version('text'))]
    const { failure: why, applied } = failure(() => commit(areas, changes, 'full'))
    assert.deepEqual([why.code, applied], [code, 0], why.message)
    assert.deepEqual(readdirSync(join(repository, tree)), before)
  })
}

test('what comes to stand at the new path, or is saved in the old one, stops a rename at the last look', (context) => {
  for (const [saved, code] of [
    ['new/b.md', 'already-exists'],
    ['a.md', 'version-mismatch'],
  ] as const) {
    const { repository, areas } = setup()
    const at = (path: string) => join(repository, tree, path)
    write(at('a.md'), 'text')
    let wrote = false
    // The first rename is that of another document, after all is checked.
    intercept(context, 'renameSync', () => {
      if (!wrote) writeFileSync(at(saved), "the editor's")
      wrote = true
    })
    const changes = [put('first.md', ''), rename('a.md', 'new/b.md', version('text'))]
    const { failure: why, change, applied } = failure(() => commit(areas, changes, 'full'))
    assert.deepEqual([why.code, change, applied], [code, 1, 1])
    assert.equal(readFileSync(at(saved), 'utf8'), "the editor's")
    assert.ok(existsSync(at('a.md')))
  }
})

for (const [what, change] of [
  ['a put', put('a.md', 'new', version('old'))],
  ['a deletion', remove('a.md', version('old'))],
] as const) {
  test(`what an editor saves after the check is seen before the rename of ${what}`, (context) => {
    const { repository, areas } = setup()
    const path = join(repository, tree, 'a.md')
    write(path, 'old')
    intercept(context, 'fdatasyncSync', () => writeFileSync(path, "the editor's"))
    const { failure: why, applied } = failure(() => commit(areas, [put('new.md', ''), change], 'full'))
    assert.deepEqual([why.code, applied], ['version-mismatch', 1])
    assert.equal(readFileSync(path, 'utf8'), "the editor's")
  })
}

test('a document of 16 MiB is kept, and none that is longer', () => {
  const { areas } = setup()
  const most = 'x'.repeat(16 * 1024 * 1024)
  commit(areas, [put('a.md', most)], 'relaxed')
  assert.equal(readDocument(areas, 'documents', 'a.md', 2n ** 64n - 1n)!.contents.length, most.length)
  assert.equal(commit(areas, [copy('a.md', 'b.md', version(most))], 'relaxed').length, 1)
  assert.equal(failure(() => commit(areas, [put('c.md', `${most}x`)], 'relaxed')).failure.code, 'too-large')
})

test('a medium that can only be read is read, and refuses the lock', (context) => {
  const repository = emptyRepository()
  write(join(repository, tree, 'a.md'), 'text')
  const view = join(emptyDirectory(), 'view')
  using _ = { [Symbol.dispose]: () => void spawnSync('umount', [view]) }
  const reason = readOnlyView(repository, view)
  if (reason !== undefined) return context.skip(`a bind mount is not possible: ${reason}`)
  const tree_ = findRepository(view, [view])
  assert.equal(readDocument(areasOf(tree_), 'documents', 'a.md', 10n)!.version, version('text'))
  assert.equal(refusal(() => Lock.acquire(tree_.lock, { atHead: 0, inAll: 0 }, monotonic())).code, 'read-only')
  assert.equal(failure(() => commit(areasOf(tree_), [put('b.md', '')], 'full')).failure.code, 'read-only')
})

test('a full medium gives `no-space` and keeps nothing of the commit', (context) => {
  const repository = join(emptyDirectory(), 'small')
  mkdirSync(repository)
  using _ = { [Symbol.dispose]: () => void spawnSync('umount', [repository]) }
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', repository], {
    encoding: 'utf8',
  })
  if (status !== 0) return context.skip(`a small file system cannot be mounted: ${stderr}`)
  write(join(repository, '.git/HEAD'), 'ref: refs/heads/main\n')
  const areas = areasOf(findRepository(repository, [repository]))
  const {
    failure: why,
    change,
    applied,
  } = failure(() => commit(areas, [put('a.md', 'fits'), put('b.md', 'x'.repeat(100_000))], 'full'))
  assert.deepEqual([why.code, change, applied], ['no-space', 1, 0])
  assert.ok(!existsSync(join(repository, '.github')))
})

test('a shared place follows the umask, and Git ignores what the host keeps in it', () => {
  const directory = join(emptyDirectory(), 'shared')
  const shared = place(directory, { isPrivate: false })
  const umask = process.umask(0o002)
  try {
    Lock.acquire(shared.lock, { atHead: 0, inAll: 0 }, monotonic()).release()
    commit(areasOf(shared), [put('a/b.md', '')], 'full')
    const mode = (name: string) => lstatSync(join(directory, name)).mode & 0o777
    assert.deepEqual(['.', 'a', 'a/b.md', '.agent-memory/turn.sqlite'].map(mode), [0o775, 0o775, 0o664, 0o664])
    assert.equal(readFileSync(join(directory, '.agent-memory/.gitignore'), 'utf8'), '*\n')
  } finally {
    process.umask(umask)
  }
})
