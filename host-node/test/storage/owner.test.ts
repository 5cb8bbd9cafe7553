import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkOwner } from '../../src/storage/owner.ts'

/** Runs `use` with a lock directory that has a marker with a text. */
function withMarker(name: string, text: string, use: (directory: string, marker: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'agent-memory-'))
  try {
    const marker = join(directory, name)
    writeFileSync(marker, text)
    use(directory, marker)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

for (const name of ['plugin.claim', 'plugin.owner']) {
  test(`a place with the marker ${name} of plugins is refused`, () => {
    withMarker(name, '1764028800\n', (directory, marker) => {
      utimesSync(marker, 1764028800, 1764028800)
      assert.throws(() => checkOwner(directory), { code: 'read-only', message: /hand-over --to hosts/ })
    })
  })
}

test('a marker that came with a copy is ignored', () => {
  withMarker('plugin.owner', '1764028800\n', (directory) => checkOwner(directory))
})

test('a torn marker counts as absent', () => {
  withMarker('plugin.owner', '', (directory, marker) => {
    utimesSync(marker, 1764028800, 1764028800)
    checkOwner(directory)
  })
})
