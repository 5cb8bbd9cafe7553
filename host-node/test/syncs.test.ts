import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { beside, emptyDirectory, emptyRepository } from './scratch.ts'

const hasStrace = spawnSync('strace', ['-V']).status === 0

test('an append syncs one file and one directory', { skip: !hasStrace && 'strace is not installed' }, () => {
  const repository = emptyRepository()
  const trace = join(emptyDirectory(), 'trace')
  const run = (content: string) => {
    const program = [process.execPath, beside('append-once.ts'), repository, content]
    const { status, stderr } = spawnSync(
      'strace',
      ['-f', '-y', '-o', trace, '-e', 'trace=fsync,fdatasync', ...program],
      { encoding: 'utf8' },
    )
    assert.equal(status, 0, stderr)
    return [...readFileSync(trace, 'utf8').matchAll(/(fsync|fdatasync)\(\d+<([^>]*)>/g)].map(
      ([, call, path]) => `${call} ${path}`,
    )
  }
  run('')
  const logs = join(repository, '.github/agent-memory/aristotle/logs')
  assert.deepEqual(run('We begin.'), [`fdatasync ${logs}/.2025-01-20.md.agent-memory-tmp`, `fsync ${logs}`])
})
