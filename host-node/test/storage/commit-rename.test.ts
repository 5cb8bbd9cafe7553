import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { commit } from '../../dist/storage/commit.js'
import { copy, commitError, put, rename, setup, tree, version } from '../fixtures/changes.ts'
import { intercept, write } from '../fixtures/scratch.ts'

test('a rename keeps the file of the document', () => {
  const { repository, areas } = setup()
  const at = (path: string) => join(repository, tree, path)
  write(at('a.md'), 'text')
  const { ino } = lstatSync(at('a.md'))
  const changes = [rename('a.md', 'b/c/d.md', version('text')), put('a2.md', '')]
  assert.deepEqual(commit(areas, changes, 'full'), [version('text'), version('')])
  assert.ok(!existsSync(at('a.md')))
  assert.deepEqual([lstatSync(at('b/c/d.md')).ino, readFileSync(at('b/c/d.md'), 'utf8')], [ino, 'text'])
  // A copy and a rename of the same document in one commit.
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
  test(`a rename of \`${from}\` to \`${to}\` is refused with \`${code}\` and changes nothing`, () => {
    const { repository, areas } = setup()
    write(join(repository, tree, 'a.md'), 'text')
    write(join(repository, tree, 'b.md'), 'saved by an editor')
    mkdirSync(join(repository, tree, 'directory'))
    symlinkSync('a.md', join(repository, tree, 'link.md'))
    const before = readdirSync(join(repository, tree))
    const changes = [put('first/x.md', ''), rename(from, to, version('text'))]
    const { error, applied } = commitError(() => commit(areas, changes, 'full'))
    assert.deepEqual([error.code, applied], [code, 0], error.message)
    assert.deepEqual(readdirSync(join(repository, tree)), before)
  })
}

test('a rename fails if its old path is saved or its new path appears after the check', (context) => {
  for (const [saved, code] of [
    ['new/b.md', 'already-exists'],
    ['a.md', 'version-mismatch'],
  ] as const) {
    const { repository, areas } = setup()
    const at = (path: string) => join(repository, tree, path)
    write(at('a.md'), 'text')
    let wrote = false
    // The first rename is that of another document. By then all versions are checked.
    intercept(context, 'renameSync', () => {
      if (!wrote) writeFileSync(at(saved), "the editor's")
      wrote = true
    })
    const changes = [put('first.md', ''), rename('a.md', 'new/b.md', version('text'))]
    const { error, change, applied } = commitError(() => commit(areas, changes, 'full'))
    assert.deepEqual([error.code, change, applied], [code, 1, 1])
    assert.equal(readFileSync(at(saved), 'utf8'), "the editor's")
    assert.ok(existsSync(at('a.md')))
  }
})
