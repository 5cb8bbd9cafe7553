import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Lock } from '../../dist/storage/lock.js'
import { checkOwner } from '../../dist/storage/owner.js'
import { findRepository } from '../../dist/storage/repository.js'
import { monotonic } from '../../dist/time.js'
import { place } from '../fixtures/places.ts'
import { emptyDirectory, emptyRepository, intercept, repositoryFile, write } from '../fixtures/scratch.ts'

type Marker = { name: string; holds: boolean; text?: string; modified?: [seconds: number, nanoseconds: number] }

const { markers, refusal } = JSON.parse(readFileSync(repositoryFile('tests/owners.json'), 'utf8')) as {
  markers: Marker[]
  refusal: string
}
const names = ['plugin.claim', 'plugin.owner']
const [valid] = markers.filter(({ holds }) => holds)

/** Makes what is at a marker. */
function make(path: string, { text, modified }: Marker): void {
  if (text === undefined) return void mkdirSync(path)
  write(path, text)
  const [seconds, nanoseconds] = modified!
  const time = seconds + nanoseconds / 1e9
  utimesSync(path, time, time)
}

for (const marker of markers) {
  test(`owner: ${marker.name}`, () => {
    for (const name of names) {
      const directory = emptyDirectory()
      make(join(directory, name), marker)
      const check = () => checkOwner(directory, 'notes')
      if (marker.holds) assert.throws(check, { code: 'read-only', message: refusal })
      else check()
    }
  })
}

test('the lock of a place of plugins is refused with the place and the command, and no lock file is made', () => {
  const [repository, directory] = [emptyRepository(), emptyDirectory()]
  const places = [findRepository(repository, [repository]), place(directory)]
  for (const { lock, location } of places) {
    const path = join(lock.anchor, ...lock.segments)
    for (const name of names) {
      make(join(path, name), valid!)
      assert.throws(() => Lock.acquire(lock, { atHead: 0, total: 0 }, monotonic()), {
        code: 'read-only',
        message: refusal.replaceAll('notes', location),
      })
    }
    assert.deepEqual(readdirSync(path), names)
  }
  assert.deepEqual(
    places.map(({ location }) => location),
    [`${repository}/.github/agent-memory`, directory],
  )
})

test('plugins that claim a place while a host takes its lock refuse that host', (context) => {
  const repository = emptyRepository()
  const { lock } = findRepository(repository, [repository])
  const path = join(lock.anchor, ...lock.segments)
  const acquire = () => Lock.acquire(lock, { atHead: 0, total: 0 }, monotonic(), undefined, 'relaxed')
  acquire().release()
  // The plugin came between the two looks of the host.
  intercept(context, 'accessSync', () => make(join(path, names[0]!), valid!))
  assert.throws(acquire, { code: 'read-only' })
})
