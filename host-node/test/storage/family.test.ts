import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { commit } from '../../dist/storage/commit.js'
import { familyDirectory } from '../../dist/storage/family-rules.js'
import { Family, familyBase } from '../../dist/storage/family.js'
import { Lock } from '../../dist/storage/lock.js'
import { type FamilyPlace, grantFile, requireApart } from '../../dist/storage/named-place.js'
import type { Registered } from '../../dist/storage/registry.js'
import { areasOf, type GrantedPlace, listDirectory } from '../../dist/storage/tree.js'
import { monotonic } from '../../dist/time.js'
import { put } from '../fixtures/changes.ts'
import { create, type Creation, snapshot } from '../fixtures/creation.ts'
import { storageError } from '../fixtures/database.ts'
import { place } from '../fixtures/places.ts'
import { emptyDirectory, repositoryFile } from '../fixtures/scratch.ts'

interface Expected {
  at?: string
  private?: boolean
  refused?: string
  says?: string
}

interface Case {
  name: string
  create?: Creation[]
  registry?: Record<string, string | Registered>
  registry_at?: string
  grant_refused?: string
  places?: Record<string, Expected>
  listed?: string[]
  new?: Record<string, Expected>
}

const label = 'things'
const text = readFileSync(repositoryFile('tests/families.json'), 'utf8')
const { families } = JSON.parse(text) as { families: Case[] }

/** JSON objects from names to places. */
const json = {
  parse: (text: string) => JSON.stringify(JSON.parse(text)),
  edit(text: string, change: string) {
    const { name, path } = JSON.parse(change).add
    if (/[/.]/.test(name)) throw new Error('no name')
    return JSON.stringify({ ...JSON.parse(text || '{}'), [name]: { path } })
  },
}

function familyAt(base: string, registry = `${base}/config/registry.yaml`): FamilyPlace {
  return { label, registry: grantFile(registry), ...familyBase(`${base}/home`, `${base}/data`), databases: [] }
}

function scratch(): string {
  const base = emptyDirectory()
  for (const name of ['home', 'data', 'config']) mkdirSync(join(base, name))
  return base
}

const acquire = (root: GrantedPlace['lock']) => Lock.acquire(root, { atHead: 5000, total: 5000 }, monotonic())

function modeOf(path: string): number {
  return lstatSync(path).mode & 0o777
}

/** Locks a place, and checks its modes and that its lock is hidden. */
function checkLock(tree: GrantedPlace, isPrivate: boolean): void {
  acquire(tree.lock).release()
  commit(areasOf(tree), [put('a/b.md', 'text')], 'full')
  const at = tree.location
  assert.equal(readFileSync(join(at, '.agent-memory/.gitignore'), 'utf8'), '*\n')
  const names = listDirectory(areasOf(tree), 'documents', '')!.map(({ name }) => name)
  assert.ok(!names.includes('.agent-memory'), String(names))
  for (const [path, mode] of [
    ['a', 0o700],
    ['a/b.md', 0o600],
    ['.agent-memory/turn.sqlite', 0o600],
  ] as const)
    assert.equal(modeOf(join(at, path)) === mode, isPrivate, path)
}

test('a directory of the system is a place only below the home or the data directory', () => {
  const isPlace = (path: string, home: string) =>
    'directory' in familyDirectory(path, { home, dataDirectory: '/etc/agents/data' })
  for (const good of ['/usr/home/ada/notes', '/etc/agents/data/stores/team', '/srv/notes'])
    assert.ok(isPlace(good, '/usr/home/ada'), good)
  for (const bad of ['/usr/home/bob/notes', '/etc/agents/notes', '/srv']) assert.ok(!isPlace(bad, '/usr/home/ada'), bad)
  assert.ok(!isPlace('/etc/notes', '/'))
  assert.ok(isPlace('/root/notes', '/root'))
})

for (const { name } of families) {
  test(`family: ${name}`, () => {
    const base = scratch()
    const filled = JSON.parse(text.replaceAll('${base}', base)) as { families: Case[] }
    const each = filled.families.find((other) => other.name === name)!
    create(base, each.create ?? [])
    const file = each.registry_at ?? `${base}/config/registry.yaml`
    if (each.registry !== undefined) {
      mkdirSync(dirname(file), { recursive: true })
      const places = Object.entries(each.registry).map(([name, place]) => [
        name,
        typeof place === 'string' ? { path: place } : place,
      ])
      writeFileSync(file, JSON.stringify(Object.fromEntries(places)))
    }
    if (each.grant_refused !== undefined) {
      assert.equal(storageError(() => familyAt(base, file)).code, each.grant_refused)
      return
    }
    const granted = familyAt(base, file)
    const family = new Family(granted, [granted], json)
    for (const [name, expected] of Object.entries(each.places ?? {})) {
      const before = snapshot(base)
      if (expected.at === undefined) {
        checkError(() => family.tree(name), expected)
        assert.deepEqual(snapshot(base), before)
        continue
      }
      const tree = family.tree(name)
      assert.equal(tree.location, expected.at)
      assert.deepEqual(snapshot(base), before)
      checkLock(tree, expected.private!)
    }
    for (const [name, expected] of Object.entries(each.new ?? {})) {
      const before = existsSync(file) && lstatSync(file).isFile() ? readFileSync(file, 'utf8') : undefined
      if (expected.at === undefined) {
        checkError(() => family.create(name, 'full', acquire), expected)
        if (before !== undefined) assert.equal(readFileSync(file, 'utf8'), before)
        continue
      }
      family.create(name, 'full', acquire)
      const tree = family.tree(name)
      assert.equal(tree.location, expected.at)
      assert.equal(join(tree.lock.anchor, ...tree.lock.segments), family.lockOfNew(name))
      checkLock(tree, true)
    }
    if (each.listed !== undefined) assert.deepEqual(family.names(), each.listed)
  })
}

function checkError(work: () => unknown, { refused, says = '' }: Expected): void {
  const error = storageError(work)
  assert.equal(error.code, refused, error.message)
  assert.ok(error.message.includes(says), `${error.message} does not say ${says}`)
}

test('an edited registry counts at once, and keeps its lock private', () => {
  const base = scratch()
  const granted = familyAt(base)
  const family = new Family(granted, [granted], json)
  const file = `${base}/config/registry.yaml`
  for (const name of ['a', 'b']) mkdirSync(join(base, 'home', name))
  writeFileSync(file, '{"a": {"path": "~/a"}}')
  assert.deepEqual(family.names(), ['a'])
  writeFileSync(file, '{"b": {"path": "~/b"}}')
  assert.equal(storageError(() => family.tree('a')).code, 'not-found')
  assert.equal(family.tree('b').location, join(base, 'home/b'))
  family.create('c', 'full', acquire)
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    b: { path: '~/b' },
    c: { path: join(base, 'data/things/c') },
  })
  const lock = `${base}/config/.agent-memory/registry.yaml`
  assert.deepEqual([modeOf(lock), modeOf(`${lock}/turn.sqlite`)], [0o700, 0o600])
  assert.equal(readFileSync(`${lock}/.gitignore`, 'utf8'), '*\n')
})

test('the places of the embedding program are all, and follow the same rules', () => {
  const base = scratch()
  const family = (places: Record<string, string>) => {
    const granted = { label, places, ...familyBase(`${base}/home`, `${base}/data`), databases: [] }
    const family = new Family(granted, [granted], json)
    family.check()
    return family
  }
  const both = family({ own: '~/own', notes: `${base}/notes` })
  assert.deepEqual(both.names(), ['notes', 'own'])
  assert.equal(both.tree('notes').location, `${base}/notes`)
  assert.equal(storageError(() => both.tree('more')).code, 'not-found')
  const refused = storageError(() => both.create('more', 'full', acquire))
  assert.equal(refused.code, 'not-granted')
  assert.match(refused.message, /the program that embeds this host/)
  for (const wrong of [{ a: '/' }, { a: 'notes' }, { a: `${base}/x`, b: `${base}/x/y` }] as Record<string, string>[])
    assert.equal(storageError(() => family(wrong)).code, 'not-granted', JSON.stringify(wrong))
  assert.equal(storageError(() => family({ 'a/b': `${base}/x` })).code, 'invalid-path')
})

test('a family and other places do not meet', () => {
  const base = scratch()
  const granted = familyAt(base)
  const around = { ...place(`${base}/config`), label: 'records', path: `${base}/config`, isPrivate: true }
  assert.match(storageError(() => requireApart(around, [granted])).message, /it contains `things`/)
  const memories = { ...around, path: `${base}/home/memories`, location: `${base}/home/memories` }
  requireApart(memories, [granted])
  writeFileSync(`${base}/config/registry.yaml`, '{"in": {"path": "~/memories/in"}, "apart": {"path": "~/apart"}}')
  mkdirSync(join(base, 'home/apart'))
  const family = new Family(granted, [memories, granted], json)
  assert.match(storageError(() => family.tree('in')).message, /it lies within `records`/)
  assert.equal(family.tree('apart').location, join(base, 'home/apart'))
})
