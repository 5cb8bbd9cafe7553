import { lstatSync } from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { canonicalBytes, textOf } from './canonical.ts'
import { StorageFailure } from './error.ts'
import { lockDirectoryOf } from './git-directory.ts'
import type { Granted } from './tree.ts'

/**
 * Finds a repository by the absolute path of its top level, within the granted directories.
 *
 * A symbolic link in the name is followed once, here, and what it leads to has to be granted. What is
 * not granted is refused alike whether it exists or not.
 */
export function findRepository(name: string, grants: readonly string[]): Granted {
  if (name.includes('\0')) {
    throw new StorageFailure('invalid-path', `\`${name}\` contains a NUL character; leave it out`)
  }
  if (!isAbsolute(name)) {
    throw new StorageFailure(
      'invalid-path',
      `\`${name}\` is not an absolute path; name the top level of the repository by its absolute path`,
    )
  }
  const root = canonicalGranted(name, grants)
  if (!lstatSync(root).isDirectory()) {
    throw new StorageFailure('invalid-path', `\`${name}\` is not a directory; name the top level of the repository`)
  }
  const segments = ['.github', 'agent-memory']
  const location = [name.replace(/\/+$/, ''), ...segments].join('/')
  return { location, documents: { anchor: root, segments }, lock: lockDirectoryOf(root), databases: [] }
}

/** The granted directories that are repositories themselves, in byte order. */
export function listRepositories(grants: readonly string[]): string[] {
  const isRepository = (name: string) => {
    try {
      return findRepository(name, grants) !== undefined
    } catch {
      return false
    }
  }
  return [...new Set(grants.filter(isRepository))].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

function canonicalGranted(name: string, grants: readonly string[]): string {
  let failure: unknown
  for (let path = name; ; path = dirname(path)) {
    let found
    try {
      found = canonicalBytes(path)
    } catch (error) {
      failure ??= error
      if (path !== dirname(path)) continue
      throw StorageFailure.from(failure, `open \`${name}\``)
    }
    if (!grants.some((grant) => covers(grant, found))) throw notGranted(name)
    if (failure === undefined) {
      const text = textOf(found)
      if (text !== undefined) return text
      throw new StorageFailure('invalid-path', `\`${name}\` leads to a path that is not UTF-8; rename what is not`)
    }
    const { code } = failure as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new StorageFailure(
        'not-found',
        `\`${name}\` does not exist; name the top level of an existing repository`,
        code,
      )
    }
    throw StorageFailure.from(failure, `open \`${name}\``)
  }
}

function covers(grant: string, path: Buffer): boolean {
  return Buffer.concat([path, Buffer.from(sep)]).indexOf(join(grant, sep)) === 0
}

function notGranted(name: string): StorageFailure {
  return new StorageFailure(
    'not-granted',
    `\`${name}\` is not granted; the program that embeds this memory grants a directory with the option \`allow\``,
  )
}
