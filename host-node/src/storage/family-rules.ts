import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, normalize, parse, sep } from 'node:path'
import { attempt, StorageError } from './error.ts'
import { lstatIfExists } from './directory.ts'

/** The directories of the user that decide about the places of a family. Both are canonical as far as they exist. */
export interface FamilyBase {
  readonly home?: string | undefined
  /** New places are made below it. Places below it are for their owner alone. */
  readonly dataDirectory?: string | undefined
}

/** The system's own directories at the root, in lower case. No place is in one of them. */
const systemDirectories =
  sep === '\\'
    ? ['program files', 'program files (x86)', 'windows']
    : 'bin boot dev etc lib lib32 lib64 libx32 proc sbin sys system usr'.split(' ')

/** The directories at the root in which users and programs have theirs. No place is one of them. */
const sharedDirectories = 'home media mnt opt root run srv tmp users var'.split(' ')

/** The host's own directory in a place. */
const ownDirectory = '.agent-memory'

/**
 * The directory that a registry's path means, or the reason why no place may be there. It looks at nothing on the file
 * system. All hosts are tested with `tests/families.json`.
 */
export function familyDirectory(path: string, base: FamilyBase): { directory: string } | { reason: string } {
  const { home } = base
  if (path.startsWith('~/') && home === undefined)
    return { reason: 'there is no home directory for `~/`: write it out' }
  const expanded = path.startsWith('~/') ? join(home!, path.slice(2)) : path
  if (!isAbsolute(expanded))
    return { reason: 'its path is not absolute: write an absolute path, or one that begins with `~/`' }
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return { reason: 'its path has a control character: leave it out' }
  if (segmentsOf(path).includes('..')) return { reason: 'its path has a `..`: write the path without' }
  const directory = withoutEnd(normalize(expanded))
  const names = segmentsOf(directory.slice(parse(directory).root.length)).map((name) => name.toLowerCase())
  if (names.includes('.git')) return { reason: "its path is in a `.git`, which is Git's own: choose another directory" }
  if (names.some((name, index) => name === '.github' && names[index + 1] === 'agent-memory'))
    return { reason: 'its path is in the agent memory of a repository: choose another directory' }
  if (names.includes(ownDirectory)) return { reason: 'its path is in a directory of locks: choose another directory' }
  if (names.length === 0) return { reason: 'its path is `/`: choose a directory for it alone' }
  if (!isOwn(directory, base)) {
    if (systemDirectories.includes(names[0]!))
      return { reason: 'its path is in a directory of the system: choose another directory' }
    if (names.length === 1 && sharedDirectories.includes(names[0]!))
      return { reason: 'its path is a directory of all users: choose a directory below' }
  }
  if (home !== undefined && isAtOrBelow(home, directory))
    return { reason: 'its path is the home directory, or contains it: choose a directory below' }
  return { directory }
}

/** Whether a directory belongs to the user: it is below the home or the data directory. */
function isOwn(directory: string, { home, dataDirectory }: FamilyBase): boolean {
  // A service may have `/` as its home.
  const own = [home === parse(home ?? '').root ? undefined : home, dataDirectory]
  return own.some((own) => own !== undefined && isAtOrBelow(directory, own))
}

export function isAtOrBelow(path: string, directory: string): boolean {
  return join(path, sep).startsWith(join(directory, sep))
}

/**
 * Throws `not-granted` if a symbolic link leads to a directory, or if something else stands there. Returns whether it
 * exists.
 */
export function checkLinks(directory: string): boolean {
  for (const path of waysTo(directory)) {
    const found = attempt(`look at \`${path}\``, () => lstatIfExists(path))
    if (found === undefined) return false
    if (found.isSymbolicLink()) throw new StorageError('not-granted', linkReason(path))
    if (!found.isDirectory())
      throw new StorageError('not-granted', `\`${path}\` is no directory: move it away, or register another path`)
  }
  return true
}

function linkReason(path: string): string {
  try {
    const target = realpathSync.native(path)
    return `\`${path}\` is a symbolic link: register the path that it leads to, \`${target}\``
  } catch {
    return `\`${path}\` is a symbolic link that leads nowhere: remove it`
  }
}

/** Directories with their names, to find those that meet. */
export class Directories {
  readonly #names = new Map<string, string[]>()
  /** The first added name below each directory. */
  readonly #below = new Map<string, string>()

  add(directory: string, name: string): void {
    this.#names.set(directory, [...(this.#names.get(directory) ?? []), name])
    for (const above of waysTo(dirname(directory))) if (!this.#below.has(above)) this.#below.set(above, name)
  }

  /** Why a directory is no place: another one than `own` equals it, lies within it or contains it. */
  meeting(directory: string, own?: string): string | undefined {
    const same = this.#names.get(directory)?.find((name) => name !== own)
    if (same !== undefined) return `\`${same}\` has the same directory: keep one of them`
    const above = waysTo(dirname(directory)).findLast((path) => this.#names.has(path))
    if (above !== undefined) return `it lies within \`${this.#names.get(above)![0]}\`: move one of them`
    const below = this.#below.get(directory)
    return below === undefined ? undefined : `it contains \`${below}\`: move one of them`
  }
}

/** The canonical path, as far as it exists. */
export function canonicalSoFar(path: string): string {
  for (let above = path; ; above = dirname(above)) {
    try {
      return withoutEnd(join(realpathSync.native(above), path.slice(above.length)))
    } catch {
      if (above === dirname(above)) return path
    }
  }
}

/** A directory and those above it, from the root on. */
function waysTo(directory: string): string[] {
  const ways = [directory]
  while (ways[0] !== dirname(ways[0]!)) ways.unshift(dirname(ways[0]!))
  return ways
}

function segmentsOf(path: string): string[] {
  return path.split(sep === '\\' ? /[/\\]/ : '/').filter((segment) => segment !== '')
}

function withoutEnd(path: string): string {
  return path.length > parse(path).root.length && path.endsWith(sep) ? path.slice(0, -1) : path
}
