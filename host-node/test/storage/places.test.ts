import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { openMemory } from 'agent-memory'
import type { Wanted } from '../../dist/storage/places.js'
import { copy, put, remove, thrown, tree, version } from '../fixtures/changes.ts'
import { newPlaces, openPlace, openRepository, restored } from '../fixtures/places.ts'
import { emptyDirectory, emptyRepository, intercept, repositoryFile, write } from '../fixtures/scratch.ts'

// The tests of `storage/files` cover the rules for documents. These cover Node's part: its file system,
// and grants that are restored in a second instance.

const isLinux = process.platform === 'linux'

test('a stamp has the size, the times and the inode in nanoseconds', () => {
  const repository = emptyRepository()
  const path = join(repository, tree, 'a.md')
  write(path, 'abc')
  const { size, mtimeNs, ctimeNs, ino } = lstatSync(path, { bigint: true })
  const status = { kind: 'file', size: 3n, stamp: `${size}-${mtimeNs}-${ctimeNs}-${ino}` }
  assert.match(status.stamp, /^3-[1-9]\d{17,}-[1-9]\d{17,}-[1-9]\d*$/)
  const open = openRepository(repository)
  assert.deepEqual(open.stat('documents', 'a.md'), status)
  assert.deepEqual(open.list('documents', '', false), [{ name: 'a.md', status }])
})

test('a directory is listed without names that are not UTF-8', { skip: !isLinux }, () => {
  const repository = emptyRepository()
  const directory = join(repository, tree)
  for (const name of ['b.md', 'a.md', '\u{ffff}', '\u{10000}']) write(join(directory, name), '')
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff])]), '')
  const names = openRepository(repository)
    .list('documents', '', false)!
    .map(({ name }) => name)
  assert.deepEqual(names, ['a.md', 'b.md', '\u{ffff}', '\u{10000}'])
})

test('a file that is longer than one read, and one that ends with it, are read whole', () => {
  const repository = emptyRepository()
  const open = openRepository(repository)
  for (const bytes of [0, 1, 2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1, 3 * 2 ** 18]) {
    const contents = Buffer.alloc(bytes, 'abc')
    write(join(repository, tree, 'a.md'), contents)
    const document = open.read('documents', 'a.md', 10_000_000n)!
    assert.ok(contents.equals(document.contents), `${bytes}`)
    assert.equal(document.version, version(contents.toString()))
  }
})

test('a commit asks for the lock at its start and before each rename and deletion', (context) => {
  const repository = emptyRepository()
  write(join(repository, tree, 'a.md'), 'a')
  write(join(repository, tree, 'b.md'), 'b')
  const events: string[] = []
  const places = newPlaces()
  places.run((files) => files.grantRepositories(repository))
  const isHeld = () => {
    events.push('lock')
    return true
  }
  const open = restored(places, true, { isHeld }).run((files) => files.open({ tag: 'repository', val: repository }))
  intercept(context, 'renameSync', (_from, to) => events.push(basename(String(to))))
  intercept(context, 'unlinkSync', (path) => events.push(basename(String(path))))
  open.commit([put('a.md', 'new', version('a')), put('c.md', 'c'), remove('b.md', version('b'))])
  assert.deepEqual(events, ['lock', 'lock', 'a.md', 'lock', 'c.md', 'lock', 'b.md'])
})

test('a lock that is lost between two renames stops the commit there', () => {
  const repository = emptyRepository()
  const places = newPlaces()
  places.run((files) => files.grantRepositories(repository))
  const isHeld = () => !existsSync(join(repository, tree, 'a.md'))
  const open = restored(places, true, { isHeld }).run((files) => files.open({ tag: 'repository', val: repository }))
  const failed = thrown(() => open.commit([put('a.md', 'a'), put('b.md', 'b')]))
  assert.deepEqual([failed.error!.code, failed.change, failed.applied], ['io', undefined, 1])
  assert.deepEqual(readdirSync(join(repository, tree)), ['a.md'])
})

for (const [name, code] of [
  ['ENOSPC', 'no-space'],
  ['EROFS', 'read-only'],
  ['EIO', 'io'],
] as const) {
  test(`an error ${name} of the system is \`${code}\`, and nothing of the commit is left`, (context) => {
    const repository = emptyRepository()
    intercept(context, 'fdatasyncSync', () => {
      throw Object.assign(new Error(name), { code: name, errno: -1 })
    })
    const failed = thrown(() => openRepository(repository).commit([put('a/b.md', '')]))
    assert.deepEqual([failed.error!.code, failed.change, failed.applied], [code, 0, 0])
    assert.ok(!existsSync(join(repository, tree, 'a')))
  })
}

test('a backup is a copy if the file system has no hard links', (context) => {
  const repository = emptyRepository()
  write(join(repository, tree, 'a.json'), 'old')
  intercept(context, 'linkSync', () => {
    throw Object.assign(new Error('EPERM'), { code: 'EPERM', errno: -1 })
  })
  const expects = version('old')
  openRepository(repository).commit([copy('a.json', 'b.json', expects), put('a.json', 'new', expects)])
  const text = (name: string) => readFileSync(join(repository, tree, name), 'utf8')
  assert.deepEqual([text('a.json'), text('b.json')], ['new', 'old'])
})

test(
  'a directory that is exchanged for a link while a commit runs leads nowhere else',
  { skip: !isLinux },
  (context) => {
    const [repository, away] = [emptyRepository(), emptyDirectory()]
    const directory = join(repository, tree, 'a')
    write(join(directory, 'b.md'), 'old')
    write(join(away, 'b.md'), 'old')
    // The commit has opened the directory, and renames the file that it has written.
    let exchanged = false
    intercept(context, 'renameSync', () => {
      if (exchanged) return
      exchanged = true
      renameSync(directory, `${directory}.moved`)
      symlinkSync(away, directory)
    })
    openRepository(repository).commit([put('a/b.md', 'new', version('old'))])
    assert.equal(readFileSync(join(`${directory}.moved`, 'b.md'), 'utf8'), 'new')
    assert.equal(readFileSync(join(away, 'b.md'), 'utf8'), 'old')
    assert.deepEqual(readdirSync(away), ['b.md'])
  },
)

test('no descriptor stays open after calls that end well and calls that fail', { skip: !isLinux }, () => {
  const repository = emptyRepository()
  const open = openRepository(repository)
  write(join(repository, tree, 'a/b.md'), '')
  const descriptors = () => readdirSync('/proc/self/fd').length
  const work = () => {
    open.read('documents', 'a/b.md', 10n)
    open.list('documents', 'a', true)
    for (const path of ['a/b.md/c', '../x', 'a']) thrown(() => open.read('documents', path, 10n))
    thrown(() => open.commit([put('a/b.md', 'x', version('another'))]))
  }
  work()
  const before = descriptors()
  for (let n = 0; n < 20; n++) work()
  assert.equal(descriptors(), before)
})

const modeOf = (path: string) => lstatSync(path).mode & 0o777

test('a private place has the modes 700 and 600, whatever the umask', () => {
  const directory = join(emptyDirectory(), 'new/data')
  const before = process.umask(0)
  try {
    openPlace(directory).commit([put('a/b.md', '')])
  } finally {
    process.umask(before)
  }
  for (const name of ['..', '.', 'a']) assert.equal(modeOf(join(directory, name)), 0o700, name)
  assert.equal(modeOf(join(directory, 'a/b.md')), 0o600)
})

test('links are followed once, when a place is granted, and a worker does not follow them anew', () => {
  const base = emptyDirectory()
  mkdirSync(join(base, 'real'))
  symlinkSync('real', join(base, 'link'))
  const places = newPlaces()
  const wanted: Wanted = {
    label: 'guest',
    form: 'directory',
    path: join(base, 'link'),
    isPrivate: false,
    databases: [],
  }
  places.run((files) => files.grantPlace(wanted))
  mkdirSync(join(base, 'other'))
  renameSync(join(base, 'link'), join(base, 'old'))
  symlinkSync('other', join(base, 'link'))
  const open = restored(places).run((files) => files.open({ tag: 'named', val: { label: 'guest', name: '' } }))
  assert.equal(open.location(), join(base, 'link'))
  open.commit([put('a.md', '')])
  assert.ok(existsSync(join(base, 'real/a.md')))
})

const { markers, refusal } = JSON.parse(readFileSync(repositoryFile('tests/owners.json'), 'utf8')) as {
  markers: { name: string; holds: boolean; text?: string; modified?: [seconds: number, nanoseconds: number] }[]
  refusal: string
}

for (const { name, holds, text, modified } of markers) {
  test(`owner: ${name}`, () => {
    for (const marker of ['plugin.claim', 'plugin.owner']) {
      const directory = emptyDirectory()
      const path = join(directory, '.agent-memory', marker)
      if (text === undefined) {
        mkdirSync(path, { recursive: true })
      } else {
        write(path, text)
        const time = modified![0] + modified![1] / 1e9
        utimesSync(path, time, time)
      }
      const open = openPlace(directory)
      for (const check of [() => open.checkOwner(), () => open.prepareLock()]) {
        if (!holds) check()
        else
          assert.deepEqual(
            { ...thrown(check), detail: 0 },
            { code: 'read-only', message: refusal.replaceAll('notes', directory), detail: 0 },
          )
      }
    }
  })
}

const invalidName = Buffer.from([0xff])
/** The name that the bytes would get if they were decoded with replacement characters. */
const decoded = '\ufffd'

/** Makes a directory whose name is not UTF-8, and a symbolic link to it. */
function makeLinked(base: string, link: string): void {
  const path = Buffer.concat([Buffer.from(`${base}/`), invalidName])
  mkdirSync(path)
  symlinkSync(path, join(base, link))
}

const codeOf = (work: () => unknown) => thrown(work).code

test('a symbolic link to a path that is not UTF-8 does not lead to another path', { skip: !isLinux }, () => {
  const [granted, outside] = [emptyDirectory(), emptyDirectory()]
  makeLinked(granted, 'way')
  mkdirSync(join(granted, 'way/sub'))
  symlinkSync('way/sub', join(granted, 'link'))
  write(join(outside, 'sub/.git/HEAD'), 'ref: refs/heads/main\n')
  symlinkSync(outside, join(granted, decoded))
  assert.equal(
    codeOf(() => openRepository(join(granted, 'link'), [granted])),
    'invalid-path',
  )
  assert.equal(
    codeOf(() => openRepository(join(granted, 'link'), [outside])),
    'not-granted',
  )
  assert.equal(
    codeOf(() => openRepository(join(granted, 'link'), [join(granted, decoded)])),
    'not-granted',
  )
})

test('a git directory at a path that is not UTF-8 is not mistaken for another one', { skip: !isLinux }, () => {
  const base = emptyDirectory()
  makeLinked(base, 'link')
  write(join(base, 'link/HEAD'), 'ref: refs/heads/main\n')
  write(join(base, decoded, 'HEAD'), 'ref: refs/heads/main\n')
  write(join(base, decoded, 'gitdir'), join(base, 'repo/.git'))
  write(join(base, 'repo/.git'), `gitdir: ${base}/link\n`)
  assert.equal(
    codeOf(() => openRepository(join(base, 'repo'), [base])),
    'not-granted',
  )
})

test('a granted directory at a path that is not UTF-8 is refused', { skip: !isLinux }, async () => {
  const base = emptyDirectory()
  makeLinked(base, 'link')
  mkdirSync(join(base, decoded))
  const refused = { code: 'invalid-option', message: /`allow`.*not UTF-8/ }
  await assert.rejects(openMemory({ allow: [join(base, 'link')] }), refused)
})
