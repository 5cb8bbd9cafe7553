import { spawn, spawnSync } from 'node:child_process'
import fs, { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

/** The canonical path of a fresh directory with no `.git` above it. It is gone when the tests of the file are over. */
export function emptyDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'agent-memory-')))
  after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function emptyRepository(): string {
  const repository = emptyDirectory()
  write(join(repository, '.git/HEAD'), 'ref: refs/heads/main\n')
  return repository
}

export function write(path: string, contents: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, contents)
}

type FileFunction =
  'accessSync' | 'fdatasyncSync' | 'linkSync' | 'lstatSync' | 'mkdirSync' | 'readdirSync' | 'renameSync'

/** Lets `before` run, or throw, before each call of a function of `node:fs` as long as the test lasts. */
export function intercept(context: TestContext, name: FileFunction, before: (...paths: unknown[]) => void) {
  const original = fs[name] as (...paths: unknown[]) => unknown
  substitute(context, name, (...paths) => {
    before(...paths)
    return original(...paths)
  })
}

/** Puts another function in the place of one of `node:fs` as long as the test lasts. */
export function substitute(context: TestContext, name: FileFunction, by: (...paths: unknown[]) => unknown) {
  const original = fs[name]
  Object.assign(fs, { [name]: by })
  syncBuiltinESMExports()
  context.after(() => {
    Object.assign(fs, { [name]: original })
    syncBuiltinESMExports()
  })
}

/** A file beside the tests. */
export function beside(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** Another process that holds a repository's lock until it is released. */
export async function heldElsewhere(repository: string): Promise<{ release: () => Promise<void> }> {
  const child = spawn(process.execPath, [beside('hold-lock.ts'), repository], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return {
    release: () => {
      child.stdin.end()
      return ended
    },
  }
}

/** Whether another process can take the lock at once. */
export function isFree(repository: string): boolean {
  const { stdout } = spawnSync(process.execPath, [beside('hold-lock.ts'), repository, 'try'], { encoding: 'utf8' })
  return stdout === 'held'
}

/** Lets a directory be seen, below another, as on a medium that can only be read; what keeps this system from it. */
export function readOnlyView(of: string, at: string): string | undefined {
  mkdirSync(at)
  for (const words of [
    ['--bind', of, at],
    ['-o', 'remount,ro,bind', at],
  ]) {
    const { status, stderr, error } = spawnSync('mount', words, { encoding: 'utf8' })
    if (status !== 0) return stderr || String(error)
  }
  return undefined
}
