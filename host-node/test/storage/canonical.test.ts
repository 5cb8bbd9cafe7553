import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMemory } from 'agent-memory-host'
import { StorageError } from '../../dist/storage/error.js'
import { findRepository } from '../../dist/storage/repository.js'
import { emptyDirectory, write } from '../fixtures/scratch.ts'

const skip = process.platform !== 'linux' && 'only the file systems of Linux take names that are not UTF-8'
const isCode = (code: string) => (error: unknown) => error instanceof StorageError && error.code === code

/** Makes a directory, whose name is bytes, and a symbolic link to it. */
function makeLinked(base: string, name: Buffer, link: string): void {
  const path = Buffer.concat([Buffer.from(`${base}/`), name])
  mkdirSync(path)
  symlinkSync(path, join(base, link))
}

const invalidName = Buffer.from([0xff])
/** The name that the bytes would get if they were decoded with replacement characters. */
const decoded = '\ufffd'

test('a symbolic link to a path that is not UTF-8 does not lead to another path', { skip }, () => {
  const [granted, outside] = [emptyDirectory(), emptyDirectory()]
  makeLinked(granted, invalidName, 'way')
  mkdirSync(join(granted, 'way/sub'))
  symlinkSync('way/sub', join(granted, 'link'))
  write(join(outside, 'sub/.git/HEAD'), 'ref: refs/heads/main\n')
  symlinkSync(outside, join(granted, decoded))
  assert.throws(() => findRepository(join(granted, 'link'), [granted]), isCode('invalid-path'))
  assert.throws(() => findRepository(join(granted, 'link'), [outside]), isCode('not-granted'))
  assert.throws(() => findRepository(join(granted, 'link'), [join(granted, decoded)]), isCode('not-granted'))
})

test('a git directory at a path that is not UTF-8 is not mistaken for another one', { skip }, () => {
  const base = emptyDirectory()
  makeLinked(base, invalidName, 'link')
  write(join(base, 'link/HEAD'), 'ref: refs/heads/main\n')
  write(join(base, decoded, 'HEAD'), 'ref: refs/heads/main\n')
  write(join(base, decoded, 'gitdir'), join(base, 'repo/.git'))
  write(join(base, 'repo/.git'), `gitdir: ${base}/link\n`)
  assert.throws(() => findRepository(join(base, 'repo'), [base]), isCode('not-granted'))
})

test('a granted directory at a path that is not UTF-8 is refused', { skip }, async () => {
  const base = emptyDirectory()
  makeLinked(base, invalidName, 'link')
  mkdirSync(join(base, decoded))
  await assert.rejects(openMemory({ allow: [join(base, 'link')] }), {
    code: 'invalid-option',
    message: /`allow`.*not UTF-8/,
  })
})
