import { statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { canonicalPath } from './canonical.ts'
import { StorageError } from './error.ts'
import { type GitSettings, isTrue, parseGitConfig } from './git-config.ts'
import { lstatIfExists, readRegular, type Root } from './directory.ts'

/** The most bytes of a `.git` file, a pointer or a configuration file. A longer file is not read. */
const maxFileBytes = 1024 * 1024

/**
 * The directory of a repository's lock and bookkeeping: `agent-memory` in its git directory, or `.agent-memory` in its
 * root if the repository has no `.git`.
 *
 * It depends on files only and not on environment variables, so that all processes find the same lock. A git directory
 * elsewhere counts only if it points back to this root: a `.git` file is as untrusted as the rest of a checkout. All
 * hosts are tested with `tests/layouts.json`.
 */
export function lockDirectoryOf(root: string): Root {
  const lock =
    lstatIfExists(join(root, '.git')) === undefined
      ? withoutGit(root)
      : { anchor: gitDirectoryOf(root), segments: ['agent-memory'] }
  const path = join(lock.anchor, ...lock.segments)
  const stats = lstatIfExists(path)
  if (stats !== undefined && !stats.isDirectory()) throw notGrantedError(path, 'is no directory')
  return lock
}

function withoutGit(root: string): Root {
  for (let directory = root; ; directory = dirname(directory)) {
    if (lstatIfExists(join(directory, '.git')) !== undefined) {
      throw new StorageError('not-granted', `\`${root}\` is not the top level of its repository; use \`${directory}\``)
    }
    if (directory === dirname(directory)) break
  }
  for (let directory = root; ; directory = dirname(directory)) {
    if (isBare(directory)) throw notGrantedError(directory, 'is a bare repository, which has no work tree')
    if (directory === dirname(directory)) break
  }
  return { anchor: root, segments: ['.agent-memory'] }
}

function isBare(directory: string): boolean {
  return hasHead(directory) && ['objects', 'refs'].every((name) => isDirectory(join(directory, name)))
}

function hasHead(directory: string): boolean {
  const head = lstatIfExists(join(directory, 'HEAD'))
  // Old versions of Git made HEAD a symbolic link to a branch, which need not exist yet.
  return head !== undefined && (head.isFile() || head.isSymbolicLink())
}

function gitDirectoryOf(root: string): string {
  const path = join(root, '.git')
  const stats = lstatIfExists(path)
  if (stats?.isDirectory()) {
    if (hasHead(path)) return path
    throw notGrantedError(path, 'is a directory without a `HEAD`')
  }
  if (!stats?.isFile()) throw notGrantedError(path, 'is neither a directory nor a file')

  const pointer = /^gitdir: ([^\n]+)$/.exec(readPointer(root, '.git') ?? '')?.[1]
  if (pointer === undefined) throw notGrantedError(path, 'is not in the form `gitdir: PATH`')
  const directory = canonical(root, pointer)
  if (directory === undefined || !isDirectory(directory) || !hasHead(directory))
    throw notGrantedError(path, 'names no git directory')
  if (!pointsBack(directory, root))
    throw notGrantedError(path, 'names a git directory that belongs to another work tree')
  return directory
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

/** The text of a file, or undefined if it cannot be read for any reason: it proves nothing then. */
function readText(directory: string, name: string): string | undefined {
  try {
    return readRegular(directory, name, maxFileBytes)?.toString('utf8')
  } catch {
    return undefined
  }
}

/** The canonical path of a path in a directory. `join` would resolve `..` before symbolic links are followed. */
function canonical(directory: string, path: string): string | undefined {
  try {
    return canonicalPath(isAbsolute(path) ? path : `${directory}/${path}`)
  } catch {
    return undefined
  }
}

/** Whether a path is a directory, or a symbolic link to one. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function notGrantedError(path: string, why: string): StorageError {
  return new StorageError(
    'not-granted',
    `\`${path}\` ${why}: the lock of this repository cannot be placed; repair it with \`git\``,
  )
}
