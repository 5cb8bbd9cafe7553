import { lstatSync } from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { canonicalBytes, textOf } from './canonical.ts'
import { StorageError } from './error.ts'
import { lockDirectoryOf } from './git-directory.ts'
import type { GrantedPlace } from './tree.ts'

/**
 * Finds a repository by the absolute path of its top level, within the granted directories.
 *
 * Symbolic links in the name are followed once, here, and the canonical path has to be granted. A path that is not
 * granted gives the same error whether it exists or not.
 */
export function findRepository(name: string, grants: readonly string[]): GrantedPlace {
  if (name.includes('\0')) {
    throw new StorageError('invalid-path', `\`${name}\` contains a NUL character; leave it out`)
  }
  if (!isAbsolute(name)) {
    throw new StorageError(
      'invalid-path',
      `\`${name}\` is not an absolute path; name the top level of the repository by its absolute path`,
    )
  }
  const root = canonicalGranted(name, grants)
  if (!lstatSync(root).isDirectory()) {
    throw new StorageError('invalid-path', `\`${name}\` is not a directory; name the top level of the repository`)
  }
  const segments = ['.github', 'agent-memory']
  const location = [name.replace(/\/+$/, ''), ...segments].join('/')
  const lock = { ...lockDirectoryOf(root, name), location }
  return { location, documents: { anchor: root, segments }, lock, databases: [] }
}

/**
 * The granted directories that have a `.git`, in byte order. One without it may hold several repositories. Those that
 * cannot be opened are among them: opening one tells why.
 */
export function listRepositories(grants: readonly string[]): string[] {
  const isRepository = (name: string) => {
    try {
      return lstatSync(join(name, '.git'), { throwIfNoEntry: false }) !== undefined
    } catch {
      return false
    }
  }
  return [...new Set(grants.filter(isRepository))].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

/** The canonical path of a name. Throws unless it exists and is granted. */
function canonicalGranted(name: string, grants: readonly string[]): string {
  let firstError: unknown
  for (let path = name; ; path = dirname(path)) {
    let found
    try {
      found = canonicalBytes(path)
    } catch (error) {
      firstError ??= error
      if (path !== dirname(path)) continue
      throw StorageError.from(firstError, `open \`${name}\``)
    }
    if (!grants.some((grant) => covers(grant, found))) throw notGrantedError(name)
    if (firstError === undefined) {
      const text = textOf(found)
      if (text !== undefined) return text
      throw new StorageError('invalid-path', `\`${name}\` leads to a path that is not UTF-8; rename what is not`)
    }
    const { code } = firstError as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new StorageError(
        'not-found',
        `\`${name}\` does not exist; name the top level of an existing repository`,
        code,
      )
    }
    throw StorageError.from(firstError, `open \`${name}\``)
  }
}

function covers(grant: string, path: Buffer): boolean {
  return Buffer.concat([path, Buffer.from(sep)]).indexOf(join(grant, sep)) === 0
}

function notGrantedError(name: string): StorageError {
  return new StorageError(
    'not-granted',
    `\`${name}\` is not granted; the program that embeds this memory grants a directory with the option \`allow\``,
  )
}
