import { statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { canonicalPath } from './canonical.ts'
import { attempt, StorageError } from './error.ts'
import { type GitSettings, isTrue, parseGitConfig } from './git-config.ts'
import { lstatIfExists, readRegular, type Root } from './directory.ts'

/** The most bytes of a `.git` file, a pointer or a configuration file. A longer file is not read. */
const maxFileBytes = 1024 * 1024

/**
 * The directory of a repository's lock and bookkeeping: `agent-memory` in its git directory, or `.agent-memory` in its
 * root if the repository has no `.git`. `name` is the repository as the caller gave it, for messages.
 *
 * It depends on files only and not on environment variables, so that all processes find the same lock. A git directory
 * elsewhere counts only if it points back to this root: a `.git` file is as untrusted as the rest of a checkout. All
 * hosts are tested with `tests/layouts.json`.
 */
export function lockDirectoryOf(root: string, name: string): Root {
  const lock = existsAt(join(root, '.git'), `open \`${name}\``)
    ? { anchor: gitDirectoryOf(root, name), segments: ['agent-memory'] }
    : withoutGit(root, name)
  const stats = lstatIfExists(join(lock.anchor, ...lock.segments))
  if (stats !== undefined && !stats.isDirectory())
    throw refused(name, 'something other than a directory stands where its lock directory belongs: remove it')
  return lock
}

function existsAt(path: string, action: string): boolean {
  return attempt(action, () => lstatIfExists(path) !== undefined)
}

function withoutGit(root: string, name: string): Root {
  const action = `open \`${name}\``
  for (let directory = root; ; directory = dirname(directory)) {
    if (attempt(action, () => isBare(directory)))
      throw refused(name, 'it is in a bare repository, which has no work tree: name a worktree of it')
    if (directory !== root && existsAt(join(directory, '.git'), action))
      throw refused(name, `it is not the top level of its repository: name \`${directory}\``)
    if (directory === dirname(directory)) return { anchor: root, segments: ['.agent-memory'] }
  }
}

function isBare(directory: string): boolean {
  return hasHead(directory) && ['objects', 'refs'].every((name) => isDirectory(join(directory, name)))
}

/** Old versions of Git made HEAD a symbolic link to a branch, which need not exist yet. */
function hasHead(directory: string): boolean {
  const head = undefinedIfNowhere(() => lstatIfExists(join(directory, 'HEAD')))
  return head !== undefined && (head.isFile() || head.isSymbolicLink())
}

function gitDirectoryOf(root: string, name: string): string {
  return attempt(`read the \`.git\` of \`${name}\``, () => {
    const path = join(root, '.git')
    const stats = lstatIfExists(path)
    if (stats?.isDirectory()) {
      if (hasHead(path)) return path
      throw refused(name, 'its `.git` has no `HEAD`: repair or remove it')
    }
    if (!stats?.isFile()) throw refused(name, 'its `.git` is neither a directory nor a file, and is not followed')
    const directory = pointedAt(root)
    if (directory === undefined)
      throw refused(name, 'its `.git` file leads to no git directory: repair it (`git worktree repair`)')
    if (pointsBack(directory, root)) return directory
    throw refused(
      name,
      'its `.git` file leads to a git directory that does not point back: ' +
        'repair it (`git worktree repair`, or `git config core.worktree` for a submodule)',
    )
  })
}

/** The git directory that a `.git` file names. */
function pointedAt(root: string): string | undefined {
  const pointer = /^gitdir: ([^\n]+)$/.exec(readPointer(root, '.git') ?? '')?.[1]
  const directory = pointer === undefined ? undefined : canonical(root, pointer)
  return directory !== undefined && hasHead(directory) ? directory : undefined
}

/** Whether a git directory belongs to this root: by its file `gitdir` (a worktree) or `core.worktree` (a submodule). */
function pointsBack(directory: string, root: string): boolean {
  if (lstatIfExists(join(directory, 'gitdir')) !== undefined) {
    const back = readPointer(directory, 'gitdir')
    return back !== undefined && back !== '' && canonical(directory, back) === join(root, '.git')
  }
  const worktree = configuredWorktree(directory)
  return typeof worktree === 'string' && worktree !== '' && canonical(directory, worktree) === root
}

/** The setting `core.worktree`. As in Git, `config.worktree` counts only with `extensions.worktreeConfig`. */
function configuredWorktree(directory: string): string | null | undefined {
  const settings = readConfig(directory, 'config')
  const extension = settings?.get('extensions.worktreeconfig')
  const hasOwn = extension !== undefined && isTrue(extension) && lstatIfExists(join(directory, 'config.worktree'))
  if (!settings || !hasOwn) return settings?.get('core.worktree')
  const own = readConfig(directory, 'config.worktree')
  return own && new Map([...settings, ...own]).get('core.worktree')
}

function readPointer(directory: string, name: string): string | undefined {
  return readText(directory, name)?.replace(/[\r\n]+$/, '')
}

function readConfig(directory: string, name: string): GitSettings | undefined {
  const text = readText(directory, name)
  return text === undefined ? undefined : parseGitConfig(text)
}

/** The text of a file, or undefined if nothing, no file, or a file that is too long is there: it proves nothing then. */
function readText(directory: string, name: string): string | undefined {
  try {
    return undefinedIfNowhere(() => readRegular(directory, name, maxFileBytes)?.toString('utf8'))
  } catch (error) {
    if (error instanceof StorageError && (error.code === 'too-large' || error.code === 'invalid-path')) return undefined
    throw error
  }
}

/** The canonical path of a path in a directory. `join` would resolve `..` before symbolic links are followed. */
function canonical(directory: string, path: string): string | undefined {
  if (path.includes('\0')) return undefined
  return undefinedIfNowhere(() => canonicalPath(isAbsolute(path) ? path : `${directory}/${path}`))
}

/** Whether a path is a directory, or a symbolic link to one. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** The errors that say that nothing is at a path. Other errors do not say whether anything is. */
const nowhere = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'])

function undefinedIfNowhere<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (nowhere.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

function refused(name: string, reason: string): StorageError {
  return new StorageError('not-granted', `cannot open \`${name}\`: ${reason}`)
}
