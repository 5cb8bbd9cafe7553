import { realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { StorageFailure } from './failure.ts'
import { parseGitConfig } from './git-config.ts'
import { lookAt, readRegular, type Root } from './walk.ts'

const longestPointer = 64 * 1024
const longestConfig = 1024 * 1024

/**
 * Where a repository's lock and private side live: `agent-memory` in its own git directory, or
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
  return hasHead(directory) && ['objects', 'refs'].every((name) => lookAt(join(directory, name))?.isDirectory())
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
  const directory = canonical(resolve(root, pointer))
  if (directory === undefined || !lookAt(directory)?.isDirectory() || !hasHead(directory))
    throw refused(path, 'names no git directory')
  if (!pointsBack(directory, root)) throw refused(path, 'names a git directory that belongs to another work tree')
  return directory
}

/** A worktree's directory has a file `gitdir`, a submodule's has the setting `core.worktree`. */
function pointsBack(directory: string, root: string): boolean {
  if (lookAt(join(directory, 'gitdir')) !== undefined) {
    const back = readPointer(directory, 'gitdir')
    return back !== undefined && back !== '' && canonical(resolve(directory, back)) === join(root, '.git')
  }
  const settings = readConfig(directory, 'config')
  const own = /^(true|yes|on|1)$/i.test(settings?.get('extensions.worktreeconfig') ?? '')
    ? readConfig(directory, 'config.worktree')
    : undefined
  const worktree = own?.get('core.worktree') ?? settings?.get('core.worktree')
  return worktree !== undefined && worktree !== '' && canonical(resolve(directory, worktree)) === root
}

function readPointer(directory: string, name: string): string | undefined {
  return readText(directory, name, longestPointer)?.replace(/[\r\n]+$/, '')
}

function readConfig(directory: string, name: string): Map<string, string> | undefined {
  const text = readText(directory, name, longestConfig)
  return text === undefined ? undefined : parseGitConfig(text)
}

/** What cannot be read as a file of text proves nothing, whatever the reason. */
function readText(directory: string, name: string, limit: number): string | undefined {
  try {
    return readRegular(directory, name, limit)?.toString('utf8')
  } catch {
    return undefined
  }
}

function canonical(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

function refused(path: string, why: string): StorageFailure {
  return new StorageFailure(
    'not-granted',
    `\`${path}\` ${why}: the lock of this repository cannot be placed; repair it with \`git\``,
  )
}
