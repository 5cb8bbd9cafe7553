import { statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { canonicalPath } from './canonical.ts'
import { StorageFailure } from './error.ts'
import { type GitSettings, isTrue, parseGitConfig } from './git-config.ts'
import { lookAt, readRegular, type Root } from './directory.ts'

/** No `.git` file, pointer or configuration that is longer is read. */
const longest = 1024 * 1024

/**
 * Where a repository's lock and bookkeeping live: `agent-memory` in its own git directory, or
 * `.agent-memory` in its root where no Git is.
 *
 * It depends on nothing but the files, so that two processes always find the same lock: no environment
 * variable counts. A git directory elsewhere counts only where it points back to this root, because a
 * `.git` file is as untrusted as everything else in a checkout. Every host is tested with tests/layouts.json.
 */
export function lockDirectoryOf(root: string): Root {
  const lock =
    lookAt(join(root, '.git')) === undefined
      ? withoutGit(root)
      : { anchor: gitDirectoryOf(root), segments: ['agent-memory'] }
  const path = join(lock.anchor, ...lock.segments)
  const stats = lookAt(path)
  if (stats !== undefined && !stats.isDirectory()) throw refused(path, 'is no directory')
  return lock
}

function withoutGit(root: string): Root {
  for (let directory = root; ; directory = dirname(directory)) {
    if (lookAt(join(directory, '.git')) !== undefined) {
      throw new StorageFailure(
        'not-granted',
        `\`${root}\` is not the top level of its repository; use \`${directory}\``,
      )
    }
    if (directory === dirname(directory)) break
  }
  for (let directory = root; ; directory = dirname(directory)) {
    if (isBare(directory)) throw refused(directory, 'is a bare repository, which has no work tree')
    if (directory === dirname(directory)) break
  }
  return { anchor: root, segments: ['.agent-memory'] }
}

function isBare(directory: string): boolean {
  return hasHead(directory) && ['objects', 'refs'].every((name) => isDirectory(join(directory, name)))
}

function hasHead(directory: string): boolean {
  const head = lookAt(join(directory, 'HEAD'))
  // Old versions of Git made HEAD a symbolic link to a branch that need not exist yet.
  return head !== undefined && (head.isFile() || head.isSymbolicLink())
}

function gitDirectoryOf(root: string): string {
  const path = join(root, '.git')
  const stats = lookAt(path)
  if (stats?.isDirectory()) {
    if (hasHead(path)) return path
    throw refused(path, 'is a directory without a `HEAD`')
  }
  if (!stats?.isFile()) throw refused(path, 'is neither a directory nor a file')

  const pointer = /^gitdir: ([^\n]+)$/.exec(readPointer(root, '.git') ?? '')?.[1]
  if (pointer === undefined) throw refused(path, 'is not in the form `gitdir: PATH`')
  const directory = canonical(root, pointer)
  if (directory === undefined || !isDirectory(directory) || !hasHead(directory))
    throw refused(path, 'names no git directory')
  if (!pointsBack(directory, root)) throw refused(path, 'names a git directory that belongs to another work tree')
  return directory
}

/** A worktree's directory has a file `gitdir`, a submodule's has the setting `core.worktree`. */
function pointsBack(directory: string, root: string): boolean {
  if (lookAt(join(directory, 'gitdir')) !== undefined) {
    const back = readPointer(directory, 'gitdir')
    return back !== undefined && back !== '' && canonical(directory, back) === join(root, '.git')
  }
  const worktree = configuredWorktree(directory)
  return typeof worktree === 'string' && worktree !== '' && canonical(directory, worktree) === root
}

/** `core.worktree`, as Git reads it: `config.worktree` counts only where an extension says so. */
function configuredWorktree(directory: string): string | null | undefined {
  const settings = readConfig(directory, 'config')
  const extension = settings?.get('extensions.worktreeconfig')
  const hasOwn = extension !== undefined && isTrue(extension) && lookAt(join(directory, 'config.worktree'))
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

/** What cannot be read as a file of text proves nothing, whatever the reason. */
function readText(directory: string, name: string): string | undefined {
  try {
    return readRegular(directory, name, longest)?.toString('utf8')
  } catch {
    return undefined
  }
}

/** Where a path leads that stands in a directory. It is not joined: that would fold `..` before links are followed. */
function canonical(directory: string, path: string): string | undefined {
  try {
    return canonicalPath(isAbsolute(path) ? path : `${directory}/${path}`)
  } catch {
    return undefined
  }
}

/** Also where a symbolic link leads to one. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function refused(path: string, why: string): StorageFailure {
  return new StorageFailure(
    'not-granted',
    `\`${path}\` ${why}: the lock of this repository cannot be placed; repair it with \`git\``,
  )
}
