import assert from 'node:assert/strict'
import { chmodSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Lock } from '../../dist/storage/lock.js'
import { monotonic } from '../../dist/time.js'
import { put, remove, version } from '../fixtures/changes.ts'
import { openRepository } from '../fixtures/places.ts'
import { create, type Creation, snapshot } from '../fixtures/creation.ts'
import { asNobody, emptyDirectory, repositoryFile, testProgram, whyNotAsNobody } from '../fixtures/scratch.ts'

interface Layout {
  name: string
  create: Creation[]
  grants?: string[]
  open: string
  lock?: string
  refused?: string
  names?: string
}

interface TreeCase {
  name: string
  create: Creation[]
  do: 'read' | 'list' | 'put' | 'delete'
  path: string
  gives?: unknown
  refused?: string
}

const text = readFileSync(repositoryFile('tests/layouts.json'), 'utf8')
const { layouts, trees } = JSON.parse(text) as { layouts: Layout[]; trees: TreeCase[] }

for (const { name } of layouts) {
  test(`layout: ${name}`, () => {
    const base = emptyDirectory()
    const layout = filled<Layout>(layouts, name, base)
    create(base, layout.create)
    const before = snapshot(base)
    const grants = (layout.grants ?? [base]).map((grant) => realpathSync.native(grant))
    if (layout.refused !== undefined) {
      assert.throws(
        () => openRepository(layout.open, grants),
        (error) => hasCode(error, layout.refused!, layout.names),
      )
      assert.deepEqual(snapshot(base), before)
      return
    }
    const lock = openRepository(layout.open, grants)
    assert.equal(lock.lockPath(), layout.lock)
    Lock.acquire(lock, { atHead: 0, total: 0 }, monotonic()).release()
    const files = readdirSync(layout.lock!)
    assert.ok(files.includes('queue.sqlite') && files.includes('turn.sqlite'))
    if (layout.lock!.endsWith('/.agent-memory'))
      assert.equal(readFileSync(join(layout.lock!, '.gitignore'), 'utf8'), '*\n')
  })
}

for (const { name } of trees) {
  test(`tree: ${name}`, () => {
    const base = emptyDirectory()
    const each = filled<TreeCase>(trees, name, base)
    create(base, each.create)
    const before = snapshot(base)
    const open = openRepository(join(base, 'repo'), [base])
    const path = each.path
    const read = () => {
      const document = open.read('documents', path, 1_000_000n)
      return document ? Buffer.from(document.contents).toString() : null
    }
    const run = {
      read,
      list: () =>
        open.list('documents', path, false)?.map(({ name, status: { kind, size } }) => ({
          name,
          kind,
          size: Number(size),
        })) ?? null,
      put: () => {
        open.commit([put(path, 'put')])
        return read()
      },
      delete: () => {
        open.commit([remove(path, version(''))])
        return read()
      },
    }[each.do]
    if (each.refused === undefined) return assert.deepEqual(run(), each.gives)
    assert.throws(run, (error) => hasCode((error as { error?: unknown }).error ?? error, each.refused!))
    assert.deepEqual(snapshot(base), before)
  })
}

const head = { file: 'repo/away/git/HEAD', text: 'ref: refs/heads/main\n' }
const pointer = { file: 'repo/.git', text: 'gitdir: away/git\n' }
const whyNot = whyNotAsNobody()
// The native host has the same test: `an_unreadable_git_directory_is_not_reported_as_broken`.
for (const [what, shut, made] of [
  ['a `.git` directory', '.git', [{ file: 'repo/.git/HEAD', text: 'ref: refs/heads/main\n' }]],
  ['a `.git` file', '.git', [head, pointer]],
  ['the directory that a `.git` file leads to', 'away', [head, pointer]],
] as const) {
  test(`${what} that may not be read is not reported as broken`, { skip: whyNot }, () => {
    const base = emptyDirectory()
    create(base, [...made])
    const repository = join(base, 'repo')
    chmodSync(base, 0o755)
    chmodSync(join(repository, shut), 0o700)
    const { stdout, stderr } = asNobody(process.execPath, testProgram('open-repository.ts'), repository)
    assert.equal(stderr, '')
    assert.deepEqual(JSON.parse(stdout), {
      code: 'permission',
      message: `cannot read the \`.git\` of \`${repository}\`: the operating system refuses: check the permissions`,
    })
  })
}

/** The case with a name, with its placeholder `${base}` filled in. */
function filled<T extends { name: string }>(all: T[], name: string, base: string): T {
  const each = all.find((other) => other.name === name)
  return JSON.parse(JSON.stringify(each).replaceAll('${base}', () => base))
}

function hasCode(thrown: unknown, code: string, names?: string): boolean {
  const error = thrown as { code?: string; message: string }
  assert.equal(error.code, code, error.message)
  if (names !== undefined) assert.ok(error.message.includes(names), error.message)
  return true
}
