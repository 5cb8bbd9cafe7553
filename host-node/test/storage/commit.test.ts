import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs, {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { commit } from '../../dist/storage/commit.js'
import { Lock } from '../../dist/storage/lock.js'
import { findRepository } from '../../dist/storage/repository.js'
import { areasOf, readDocument } from '../../dist/storage/tree.js'
import { monotonic } from '../../dist/time.js'
import { copy, edit, commitError, put, remove, rename, setup, tree, version } from '../fixtures/changes.ts'
import { storageError } from '../fixtures/database.ts'
import { place } from '../fixtures/places.ts'
import { emptyDirectory, emptyRepository, intercept, mountReadOnly, write } from '../fixtures/scratch.ts'

test('a version is the SHA-256 of the contents in lower-case hexadecimal', () => {
  assert.equal(version('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('a commit makes its changes in order and returns the new versions', () => {
  const { repository, areas } = setup()
  assert.deepEqual(commit(areas, [put('a/b.md', 'one'), put('c.md', 'two')], 'full'), [version('one'), version('two')])
  const second = commit(areas, [put('c.md', 'three', version('two')), remove('a/b.md', version('one'))], 'full')
  assert.deepEqual(second, [version('three'), undefined])
  assert.equal(readFileSync(join(repository, tree, 'c.md'), 'utf8'), 'three')
  assert.equal(readDocument(areas, 'documents', 'a/b.md', 10n), undefined)
})

test('an edit applies its splices, also with a backup in the same commit, and returns the new version', () => {
  const { repository, areas } = setup()
  write(join(repository, tree, 'a.json'), '0123456789')
  const splices: Parameters<typeof edit>[2][] = [
    [0, 3, ''],
    [4, 1, 'bc'],
    [5, 0, 'd'],
    [10, 0, 'e'],
  ]
  const before = version('0123456789')
  const versions = commit(areas, [copy('a.json', 'b.json', before), edit('a.json', before, ...splices)], 'full')
  assert.deepEqual(versions, [before, version('3bcd56789e')])
  const text = (name: string) => readFileSync(join(repository, tree, name), 'utf8')
  assert.deepEqual([text('a.json'), text('b.json')], ['3bcd56789e', '0123456789'])
  assert.deepEqual(commit(areas, [edit('b.json', before)], 'full'), [before])
})

test('of several documents that are edited, each is read again when it is written', (context) => {
  const { repository, areas } = setup()
  for (const name of ['a.md', 'b.md']) write(join(repository, tree, name), '01')
  const edits = [edit('a.md', version('01'), [0, 1, 'a']), edit('b.md', version('01'), [1, 1, 'b'])]
  assert.deepEqual(commit(areas, edits, 'full'), [version('a1'), version('0b')])
  const [first, second] = [edit('a.md', version('a1')), edit('b.md', version('0b'))]
  // An editor saves the second document while the first one is written.
  let wrote = false
  intercept(context, 'fdatasyncSync', () => {
    if (!wrote) fs.writeFileSync(join(repository, tree, 'b.md'), 'ed')
    wrote = true
  })
  const { error, change } = commitError(() => commit(areas, [first, second], 'full'))
  assert.deepEqual([wrote, error.code, change], [true, 'version-mismatch', 1])
  assert.deepEqual(readdirSync(join(repository, tree)).sort(), ['a.md', 'b.md'])
})

test('an edit fails and changes nothing if its version, its splices or its length is wrong', () => {
  const { repository, areas } = setup()
  write(join(repository, tree, 'a.md'), '0123456789')
  const before = version('0123456789')
  const long = 'x'.repeat(16 * 1024 * 1024)
  write(join(repository, tree, 'long.md'), `${long}x`)
  for (const [refused, code] of [
    [edit('a.md', before, [5, 6, '']), 'version-mismatch'],
    [edit('a.md', before, [11, 0, '']), 'version-mismatch'],
    [edit('a.md', before, [2, 2, ''], [3, 1, '']), 'version-mismatch'],
    [edit('a.md', before, [4, 0, ''], [3, 0, '']), 'version-mismatch'],
    [edit('a.md', before, [2 ** 60, 2 ** 60, '']), 'version-mismatch'],
    [edit('a.md', version('other'), [0, 0, 'a']), 'version-mismatch'],
    [edit('b.md', before), 'version-mismatch'],
    [edit('a.md', before, [0, 0, long]), 'too-large'],
    [edit('long.md', version('other')), 'too-large'],
  ] as const) {
    const { error, change } = commitError(() => commit(areas, [put('first.md', ''), refused], 'full'))
    assert.deepEqual([error.code, change], [code, 1])
    assert.deepEqual(readdirSync(join(repository, tree)).sort(), ['a.md', 'long.md'])
    assert.equal(readFileSync(join(repository, tree, 'a.md'), 'utf8'), '0123456789')
  }
})

test('the bookkeeping is in the lock directory', () => {
  const { repository, areas } = setup()
  commit(areas, [{ tag: 'put', val: { area: 'bookkeeping', path: 'a.json', contents: Buffer.from('{}') } }], 'full')
  assert.equal(readFileSync(join(repository, '.git/agent-memory/bookkeeping/a.json'), 'utf8'), '{}')
  assert.ok(!existsSync(join(repository, '.github')))
})

test('one version mismatch stops the commit, and the error gives its change', () => {
  const { repository, areas } = setup()
  commit(areas, [put('a.md', 'a')], 'full')
  const { error, change, applied } = commitError(() =>
    commit(areas, [put('new/b.md', 'b'), put('a.md', 'c', version('x'))], 'full'),
  )
  assert.deepEqual([error.code, change, applied], ['version-mismatch', 1, 0])
  assert.deepEqual(readdirSync(join(repository, tree)), ['a.md'])
})

test('a commit is refused if it has one path twice, a path below another, too many changes or too long a document', () => {
  const { repository, areas } = setup()
  const codeOf = (changes: Parameters<typeof commit>[1]) => commitError(() => commit(areas, changes, 'full')).error.code
  assert.equal(codeOf([put('a.md', 'a'), put('a.md', 'b')]), 'invalid-path')
  assert.equal(codeOf([put('a', 'a'), put('a/b', 'b')]), 'invalid-path')
  assert.equal(codeOf([put('a/b/c', 'a'), put('a', 'b')]), 'invalid-path')
  assert.equal(codeOf(Array.from({ length: 1001 }, (_, n) => put(`${n}`, ''))), 'too-large')
  assert.equal(codeOf([put('a.md', 'x'.repeat(16 * 1024 * 1024 + 1))]), 'too-large')
  assert.ok(!existsSync(join(repository, '.github')))
})

test('an error before the first rename removes temporary files and new directories', () => {
  const { repository, areas } = setup()
  mkdirSync(join(repository, tree, 'b/.x.md.agent-memory-tmp'), { recursive: true })
  const { error, change, applied } = commitError(() => commit(areas, [put('a/x.md', 'a'), put('b/x.md', 'b')], 'full'))
  assert.deepEqual([error.code === 'already-exists', change, applied], [false, 1, 0])
  assert.deepEqual(readdirSync(join(repository, tree)), ['b'])
})

test('an error after the first rename keeps the changes before it and gives their number', (context) => {
  const { repository, areas } = setup()
  intercept(context, 'renameSync', (_, to) => {
    if (String(to).endsWith('/b.md')) throw Object.assign(new Error('busy'), { code: 'EBUSY', errno: -16 })
  })
  const { change, applied } = commitError(() =>
    commit(areas, [put('a.md', 'a'), put('b.md', 'b'), put('c/d.md', 'd')], 'full'),
  )
  assert.deepEqual([change, applied], [1, 1])
  assert.equal(readFileSync(join(repository, tree, 'a.md'), 'utf8'), 'a')
  assert.deepEqual(readdirSync(join(repository, tree)), ['a.md'])
})

test('a commit whose lock file is removed stops before the first rename', (context) => {
  const { repository, areas } = setup()
  const lock = Lock.acquire(findRepository(repository, [repository]).lock, { atHead: 0, total: 0 }, monotonic())
  intercept(context, 'mkdirSync', (path) => {
    if (String(path).endsWith('/.github')) rmSync(join(repository, '.git/agent-memory'), { recursive: true })
  })
  const { error, applied } = commitError(() => commit(areas, [put('a.md', 'a')], 'full', () => lock.check()))
  assert.deepEqual([error.code, applied], ['io', 0])
  assert.ok(!existsSync(join(repository, '.github')))
  lock.release()
})

test('a lock file that is removed between two renames stops the commit there', () => {
  const { repository, areas } = setup()
  const lock = Lock.acquire(findRepository(repository, [repository]).lock, { atHead: 0, total: 0 }, monotonic())
  commit(areas, [put('a.md', 'old')], 'full', () => lock.check())
  // The first rename goes through, and the lock is gone after it.
  const isHeld = () => readFileSync(join(repository, tree, 'a.md'), 'utf8') === 'old'
  const { error, change, applied } = commitError(() =>
    commit(areas, [put('a.md', 'new', version('old')), put('b.md', 'new')], 'full', () => {
      if (!isHeld()) rmSync(join(repository, '.git/agent-memory'), { recursive: true })
      lock.check()
    }),
  )
  assert.deepEqual([error.code, change, applied], ['io', undefined, 1])
  assert.equal(readFileSync(join(repository, tree, 'a.md'), 'utf8'), 'new')
  assert.deepEqual(readdirSync(join(repository, tree)), ['a.md'])
  lock.release()
})

test('a document keeps its permission bits', () => {
  const { repository, areas } = setup()
  const path = join(repository, tree, 'a.md')
  // A new document follows the umask. A changed document keeps its bits, also those that the umask would clear.
  const umask = process.umask(0o027)
  try {
    commit(areas, [put('a.md', 'a')], 'full')
    assert.equal(statSync(path).mode & 0o7777, 0o640)
    chmodSync(path, 0o666)
    commit(areas, [put('a.md', 'b', version('a'))], 'full')
    assert.equal(statSync(path).mode & 0o7777, 0o666)
  } finally {
    process.umask(umask)
  }
})

test('a document is too large beyond the limit of the caller or of the host', () => {
  const { areas, repository } = setup()
  write(join(repository, tree, 'a.md'), 'abc')
  assert.throws(() => readDocument(areas, 'documents', 'a.md', 2n), { code: 'too-large' })
  write(join(repository, tree, 'b.md'), 'x'.repeat(16 * 1024 * 1024 + 1))
  assert.throws(() => readDocument(areas, 'documents', 'b.md', 2n ** 64n - 1n), { code: 'too-large' })
})

test('a backup has the contents from before the commit, whether the copy is before or after the put', () => {
  const keep = () => copy('a.json', 'kept/a.json', version('old'))
  const change = () => put('a.json', 'new', version('old'))
  for (const changes of [
    [keep(), change()],
    [change(), keep()],
  ]) {
    const { repository, areas } = setup()
    write(join(repository, tree, 'a.json'), 'old')
    const expected = changes.map(({ tag }) => version(tag === 'copy' ? 'old' : 'new'))
    assert.deepEqual(commit(areas, changes, 'full'), expected)
    assert.equal(readFileSync(join(repository, tree, 'a.json'), 'utf8'), 'new')
    assert.equal(readFileSync(join(repository, tree, 'kept/a.json'), 'utf8'), 'old')
    assert.deepEqual(readdirSync(join(repository, tree, 'kept')), ['a.json'])
  }
})

test('a backup replaces the previous backup, whatever it contains', () => {
  const { repository, areas } = setup()
  const [document, backup] = [join(repository, tree, 'a.json'), join(repository, tree, 'a.json.backup')]
  write(document, '1')
  for (const [old, next] of [
    ['1', '2'],
    ['2', '3'],
    ['3', '4'],
  ] as const) {
    commit(areas, [copy('a.json', 'a.json.backup', version(old)), put('a.json', next, version(old))], 'full')
    assert.deepEqual([readFileSync(backup, 'utf8'), readFileSync(document, 'utf8')], [old, next])
    write(backup, 'written by hand')
  }
})

test('a backup has the permission bits of its document', () => {
  const { repository, areas } = setup()
  write(join(repository, tree, 'a.json'), 'text')
  write(join(repository, tree, 'replaced.json'), '')
  for (const mode of [0o600, 0o666]) {
    chmodSync(join(repository, tree, 'a.json'), mode)
    for (const to of ['new.json', 'replaced.json']) {
      commit(areas, [copy('a.json', to, version('text'))], 'full')
      assert.equal(statSync(join(repository, tree, to)).mode & 0o7777, mode)
    }
  }
})

for (const [from, to, code] of [
  ['missing.json', 'c.json', 'version-mismatch'],
  ['missing/a.json', 'c.json', 'version-mismatch'],
  ['b.json', 'c.json', 'version-mismatch'],
  ['a.json', 'directory', 'invalid-path'],
  ['a.json', 'link.json', 'invalid-path'],
  ['a.json', 'a.json/below', 'invalid-path'],
  ['a.json', '../a.json', 'invalid-path'],
  ['a.json', 'first', 'invalid-path'],
  ['a.json', 'first/b.md/below', 'invalid-path'],
  ['directory', 'c.json', 'invalid-path'],
  ['link.json', 'c.json', 'invalid-path'],
  ['../a.json', 'c.json', 'invalid-path'],
  ['long.json', 'c.json', 'too-large'],
]) {
  test(`a copy of \`${from}\` to \`${to}\` is refused with \`${code}\` and changes nothing`, () => {
    const { repository, areas } = setup()
    const long = 'x'.repeat(16 * 1024 * 1024 + 1)
    for (const [name, text] of [
      ['a.json', 'text'],
      ['b.json', 'saved by an editor'],
      ['long.json', long],
    ] as const) {
      write(join(repository, tree, name), text)
    }
    mkdirSync(join(repository, tree, 'directory'))
    symlinkSync('a.json', join(repository, tree, 'link.json'))
    const before = readdirSync(join(repository, tree))
    const expects = version(from === 'long.json' ? long : 'text')
    const changes = [put('first/b.md', 'b'), copy(from!, to!, expects)]
    const { error, applied } = commitError(() => commit(areas, changes, 'full'))
    assert.deepEqual([error.code, applied], [code, 0])
    assert.deepEqual(readdirSync(join(repository, tree)), before)
  })
}

test('a backup is a hard link to the old file, so its contents are not written again', () => {
  const { repository, areas } = setup()
  const [document, backup] = [join(repository, tree, 'a.json'), join(repository, tree, 'kept/a.json')]
  write(document, 'old')
  const { ino } = statSync(document)
  commit(areas, [copy('a.json', 'kept/a.json', version('old')), put('a.json', 'new', version('old'))], 'full')
  assert.equal(statSync(backup).ino, ino)
  assert.deepEqual([statSync(backup).nlink, statSync(document).nlink], [1, 1])
})

test('a document that the commit does not replace and its backup are two files', () => {
  const { repository, areas } = setup()
  write(join(repository, tree, 'a.json'), 'text')
  commit(areas, [copy('a.json', 'b.json', version('text'))], 'full')
  assert.notEqual(statSync(join(repository, tree, 'a.json')).ino, statSync(join(repository, tree, 'b.json')).ino)
})

test('a backup is a copy if the file system has no hard links', (context) => {
  const { repository, areas } = setup()
  write(join(repository, tree, 'a.json'), 'old')
  let tried = 0
  intercept(context, 'linkSync', () => {
    tried++
    throw Object.assign(new Error('no links'), { code: 'EPERM', errno: -1 })
  })
  commit(areas, [copy('a.json', 'b.json', version('old')), put('a.json', 'new', version('old'))], 'full')
  const text = (name: string) => readFileSync(join(repository, tree, name), 'utf8')
  assert.deepEqual([tried, text('a.json'), text('b.json')], [1, 'new', 'old'])
})

test('a commit that is repeated after a crash between its two renames makes the backup and the new document', () => {
  const { repository, areas } = setup()
  const [document, backup] = [join(repository, tree, 'a.json'), join(repository, tree, 'b.json')]
  write(document, 'old')
  linkSync(document, backup)
  commit(areas, [copy('a.json', 'b.json', version('old')), put('a.json', 'new', version('old'))], 'full')
  assert.deepEqual([readFileSync(document, 'utf8'), readFileSync(backup, 'utf8')], ['new', 'old'])
  assert.deepEqual(readdirSync(join(repository, tree)).sort(), ['a.json', 'b.json'])
})

test('a backup fails if an editor writes to the document after it is linked', (context) => {
  const { repository, areas } = setup()
  const document = join(repository, tree, 'a.json')
  write(document, 'old')
  write(join(repository, tree, 'b.json'), 'older')
  let wrote = false
  // The first rename is that of another document. By then all changes are prepared.
  intercept(context, 'renameSync', () => {
    if (!wrote) fs.writeFileSync(document, "the editor's")
    wrote = true
  })
  const { error, applied } = commitError(() =>
    commit(
      areas,
      [put('first.md', ''), copy('a.json', 'b.json', version('old')), put('a.json', 'new', version('old'))],
      'full',
    ),
  )
  assert.deepEqual([error.code, applied], ['version-mismatch', 1])
  const text = (name: string) => readFileSync(join(repository, tree, name), 'utf8')
  assert.deepEqual([text('a.json'), text('b.json')], ["the editor's", 'older'])
  assert.deepEqual(readdirSync(join(repository, tree)).sort(), ['a.json', 'b.json', 'first.md'])
})

test('documents of a private place have mode 600, whatever their mode before and the umask', () => {
  const directory = join(emptyDirectory(), 'memories')
  const areas = areasOf(place(directory))
  const mode = (name: string) => statSync(join(directory, name)).mode & 0o777
  const umask = process.umask(0)
  try {
    commit(areas, [put('a.json', 'old'), put('b/c.json', '')], 'full')
    assert.deepEqual(['.', 'a.json', 'b', 'b/c.json'].map(mode), [0o700, 0o600, 0o700, 0o600])
    chmodSync(join(directory, 'a.json'), 0o644)
    commit(areas, [copy('a.json', 'a.json.backup', version('old')), put('a.json', 'new', version('old'))], 'full')
    assert.deepEqual(['a.json', 'a.json.backup'].map(mode), [0o600, 0o600])
  } finally {
    process.umask(umask)
  }
  assert.equal(commitError(() => commit(areas, [put('memories.db', '')], 'full')).error.code, 'invalid-path')
})

test('a copy fails if an editor saves the document after the check of its version', (context) => {
  const { repository, areas } = setup()
  write(join(repository, tree, 'a.json'), 'old')
  // The directory is made after the check of the version and before the copy.
  intercept(context, 'mkdirSync', (path) => {
    if (String(path).endsWith('/kept')) fs.writeFileSync(join(repository, tree, 'a.json'), "the editor's")
  })
  const { error } = commitError(() => commit(areas, [copy('a.json', 'kept/a.json', version('old'))], 'full'))
  assert.equal(error.code, 'version-mismatch')
  assert.deepEqual(readdirSync(join(repository, tree)), ['a.json'])
})

test('an error before the first rename leaves the backup as it was', () => {
  const { repository, areas } = setup()
  write(join(repository, tree, 'a.json'), 'old')
  write(join(repository, tree, 'a.json.backup'), 'older')
  mkdirSync(join(repository, tree, '.b.md.agent-memory-tmp'))
  const before = readdirSync(join(repository, tree))
  const { change, applied } = commitError(() =>
    commit(
      areas,
      [
        copy('a.json', 'a.json.backup', version('old')),
        copy('a.json', 'new/a.json.backup', version('old')),
        put('a.json', 'new', version('old')),
        put('b.md', 'b'),
      ],
      'full',
    ),
  )
  assert.deepEqual([change, applied], [3, 0])
  assert.deepEqual(readdirSync(join(repository, tree)), before)
  assert.equal(readFileSync(join(repository, tree, 'a.json.backup'), 'utf8'), 'older')
})

for (const [what, change] of [
  ['a put', put('a.md', 'new', version('old'))],
  ['a deletion', remove('a.md', version('old'))],
] as const) {
  test(`${what} fails if an editor saves the document after the check of its version`, (context) => {
    const { repository, areas } = setup()
    const path = join(repository, tree, 'a.md')
    write(path, 'old')
    intercept(context, 'fdatasyncSync', () => writeFileSync(path, "the editor's"))
    const { error, applied } = commitError(() => commit(areas, [put('new.md', ''), change], 'full'))
    assert.deepEqual([error.code, applied], ['version-mismatch', 1])
    assert.equal(readFileSync(path, 'utf8'), "the editor's")
  })
}

test('a document may have 16 MiB, and not one byte more', () => {
  const { areas } = setup()
  const most = 'x'.repeat(16 * 1024 * 1024)
  commit(areas, [put('a.md', most)], 'relaxed')
  assert.equal(readDocument(areas, 'documents', 'a.md', 2n ** 64n - 1n)!.contents.length, most.length)
  assert.equal(commit(areas, [copy('a.md', 'b.md', version(most))], 'relaxed').length, 1)
  assert.equal(commitError(() => commit(areas, [put('c.md', `${most}x`)], 'relaxed')).error.code, 'too-large')
})

test('a read-only medium can be read, and refuses the lock', (context) => {
  const repository = emptyRepository()
  write(join(repository, tree, 'a.md'), 'text')
  const view = join(emptyDirectory(), 'view')
  using _ = { [Symbol.dispose]: () => void spawnSync('umount', [view]) }
  const reason = mountReadOnly(repository, view)
  if (reason !== undefined) return context.skip(`a bind mount is not possible: ${reason}`)
  const found = findRepository(view, [view])
  assert.equal(readDocument(areasOf(found), 'documents', 'a.md', 10n)!.version, version('text'))
  assert.equal(storageError(() => Lock.acquire(found.lock, { atHead: 0, total: 0 }, monotonic())).code, 'read-only')
  assert.equal(commitError(() => commit(areasOf(found), [put('b.md', '')], 'full')).error.code, 'read-only')
})

test('a full medium gives `no-space`, and nothing of the commit is left', (context) => {
  const repository = join(emptyDirectory(), 'small')
  mkdirSync(repository)
  using _ = { [Symbol.dispose]: () => void spawnSync('umount', [repository]) }
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', repository], {
    encoding: 'utf8',
  })
  if (status !== 0) return context.skip(`a small file system cannot be mounted: ${stderr}`)
  write(join(repository, '.git/HEAD'), 'ref: refs/heads/main\n')
  const areas = areasOf(findRepository(repository, [repository]))
  const { error, change, applied } = commitError(() =>
    commit(areas, [put('a.md', 'fits'), put('b.md', 'x'.repeat(100_000))], 'full'),
  )
  assert.deepEqual([error.code, change, applied], ['no-space', 1, 0])
  assert.ok(!existsSync(join(repository, '.github')))
})

test('a commit checks the lock at its start and before each rename and deletion', (context) => {
  const { repository, areas } = setup()
  for (const name of ['b.md', 'c.md', 'd.md']) write(join(repository, tree, name), name)
  const events: string[] = []
  intercept(context, 'renameSync', (_from, to) => events.push(basename(String(to))))
  intercept(context, 'unlinkSync', (path) => {
    if (String(path).endsWith('.md')) events.push(`${basename(String(path))} deleted`)
  })
  const changes = [
    put('a.md', 'new'),
    edit('b.md', version('b.md'), [0, 1, 'B']),
    copy('c.md', 'c.backup', version('c.md')),
    remove('d.md', version('d.md')),
    rename('c.md', 'e.md', version('c.md')),
  ]
  commit(areas, changes, 'full', () => events.push('check'))
  const applied = ['a.md', 'b.md', 'c.backup', 'd.md deleted', 'e.md']
  assert.deepEqual(events, ['check', ...applied.flatMap((change) => ['check', change])])
})
