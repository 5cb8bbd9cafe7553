import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { commit } from '../../dist/storage/commit.js'
import { Lock } from '../../dist/storage/lock.js'
import { grantDirectory } from '../../dist/storage/named-place.js'
import { areasOf } from '../../dist/storage/tree.js'
import { monotonic } from '../../dist/time.js'
import { put } from '../fixtures/changes.ts'
import { storageError } from '../fixtures/database.ts'
import { place } from '../fixtures/places.ts'
import { emptyDirectory } from '../fixtures/scratch.ts'

test('a granted directory need not exist, but a file in its place is refused', () => {
  const base = emptyDirectory()
  writeFileSync(join(base, 'file'), '')
  mkdirSync(join(base, 'real'))
  symlinkSync('real', join(base, 'link'))
  assert.equal(grantDirectory(join(base, 'link/b/c')).path, join(base, 'real/b/c'))
  assert.equal(grantDirectory(`${join(base, 'link/b')}//`).location, join(base, 'link/b'))
  for (const [path, why] of [
    [join(base, 'file'), /something other than a directory/],
    [join(base, 'file/below'), /something other than a directory/],
    [`${base}/missing/../real`, /`\.\.` below/],
    ['relative', /absolute/],
    [`${base}/a\0b`, /NUL/],
  ] as const) {
    const error = storageError(() => grantDirectory(path))
    assert.equal(error.code, 'invalid-path')
    assert.match(error.message, why)
  }
})

test("files of a shared place follow the umask, and Git ignores the host's own files", () => {
  const directory = join(emptyDirectory(), 'shared')
  const shared = place(directory, { isPrivate: false })
  const umask = process.umask(0o002)
  try {
    Lock.acquire(shared.lock, { atHead: 0, total: 0 }, monotonic()).release()
    commit(areasOf(shared), [put('a/b.md', '')], 'full')
    const mode = (name: string) => lstatSync(join(directory, name)).mode & 0o777
    assert.deepEqual(['.', 'a', 'a/b.md', '.agent-memory/turn.sqlite'].map(mode), [0o775, 0o775, 0o664, 0o664])
    assert.equal(readFileSync(join(directory, '.agent-memory/.gitignore'), 'utf8'), '*\n')
  } finally {
    process.umask(umask)
  }
})
