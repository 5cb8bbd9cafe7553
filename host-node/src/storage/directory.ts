import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  type Stats,
} from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { StorageError, undefinedIfMissing } from './error.ts'

/** The root directory of an area: a trusted directory and the segments below it, which may be symbolic links. */
export interface Root {
  /** The canonical path of the trusted directory. */
  readonly anchor: string
  /** The path from the anchor to the root. */
  readonly segments: readonly string[]
  /** Whether new files and directories are for their owner only: modes 600 and 700. */
  readonly isPrivate?: boolean
  /** The names of the host's own files in it, in lower case. No document's path begins with one of them. */
  readonly ownNames?: readonly string[]
  /** Whether it is a lock directory that gets a `.gitignore`, also if it is private. */
  readonly isHidden?: boolean
  /** Whether it can have no documents, because its place is a single file. */
  readonly isClosed?: boolean
}

/** The directory of a place's lock. */
export interface LockDirectory extends Root {
  /** The place as the person who granted it would write it, for messages. */
  readonly location: string
}

/** `full`: a commit that has returned survives a loss of power. `relaxed`: the system decides when to sync. */
export type Durability = 'full' | 'relaxed'

/** The stats of a path, or undefined if nothing is there. Symbolic links are not followed. */
export function lstatIfExists(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

/**
 * The path of the directory `name` in another directory, or undefined if nothing is there.
 *
 * Throws `invalid-path` if it is a symbolic link or anything else but a directory. Node has no `openat`: a symbolic
 * link that replaces the directory after this check is followed. The README names this race.
 */
export function enterDirectory(parent: string, name: string): string | undefined {
  const path = join(parent, name)
  const stats = lstatIfExists(path)
  if (stats === undefined) return undefined
  if (!stats.isDirectory()) throw wrongKindError('directory', name, stats)
  return path
}

/** The path of the directory at `segments` below a root, or undefined if it does not exist. */
export function findDirectory(root: Root, segments: readonly string[]): string | undefined {
  let directory: string | undefined = root.anchor
  for (const segment of [...root.segments, ...segments]) {
    directory = enterDirectory(directory, segment)
    if (directory === undefined) return undefined
  }
  return directory
}

/** The path of a root. Makes the directories of it that are missing. */
export function makeDirectory({ anchor, segments, isPrivate = false }: Root, durability: Durability): string {
  let directory = anchor
  for (const segment of segments) {
    const path = join(directory, segment)
    if (
      lstatIfExists(path) === undefined &&
      makeUnlessExists(() => makeSubdirectory(path, isPrivate)) &&
      durability === 'full'
    ) {
      syncDirectory(directory)
    }
    if (enterDirectory(directory, segment) === undefined) {
      throw new StorageError('io', `\`${segment}\` was removed as soon as it was made; call again`)
    }
    directory = path
  }
  return directory
}

export function makeSubdirectory(path: string, isPrivate: boolean): void {
  mkdirSync(path, { mode: isPrivate ? 0o700 : 0o777 })
}

/** Runs `make`. Returns false if it throws `EEXIST`. */
export function makeUnlessExists(make: () => void): boolean {
  try {
    make()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

/** Syncs a directory: the names that were created, renamed and removed in it survive a loss of power. */
export function syncDirectory(directory: string): void {
  // Windows syncs a directory only if it is open for writing.
  const { O_RDONLY, O_RDWR, O_DIRECTORY } = constants
  const descriptor = openSync(directory, process.platform === 'win32' ? O_RDWR : O_RDONLY | O_DIRECTORY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The contents of the regular file `name` in a directory, or undefined if nothing is there. */
export function readRegular(directory: string, name: string, limit: number, shown = name): Buffer | undefined {
  return withRegular(directory, name, (descriptor, { size }) => {
    if (size > limit) throw tooLargeError(shown, size, limit)
    // One byte more than the size, to notice a file that has grown meanwhile.
    let buffer = Buffer.allocUnsafe(size + 1)
    let length = 0
    for (let read; (read = readSync(descriptor, buffer, length, buffer.length - length, null)) > 0;) {
      length += read
      if (length > limit) throw tooLargeError(shown, length, limit)
      if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(length)])
    }
    return buffer.subarray(0, length)
  })
}

/**
 * The version and stats of a regular file, or undefined if nothing is there. `take` gets its contents in pieces. They
 * share one buffer, so `take` uses or copies each piece at once. A file beyond the limit throws, possibly after some
 * pieces.
 */
export function hashRegular(
  directory: string,
  name: string,
  limit = Infinity,
  take: (piece: Uint8Array) => void = () => {},
): { version: string; stats: Stats } | undefined {
  return withRegular(directory, name, (descriptor, stats) => {
    if (stats.size > limit) throw tooLargeError(name, stats.size, limit)
    const digest = createHash('sha256')
    const buffer = Buffer.allocUnsafe(64 * 1024)
    let length = 0
    for (let read; (read = readSync(descriptor, buffer)) > 0;) {
      length += read
      if (length > limit) throw tooLargeError(name, length, limit)
      const piece = buffer.subarray(0, read)
      digest.update(piece)
      take(piece)
    }
    return { version: digest.digest('hex'), stats }
  })
}

function tooLargeError(name: string, size: number, limit: number): StorageError {
  const message = `\`${name}\` is longer than ${limit} bytes (it has ${size}): shorten it, or split it`
  return new StorageError('too-large', message)
}

function withRegular<T>(directory: string, name: string, work: (descriptor: number, stats: Stats) => T): T | undefined {
  const path = join(directory, name)
  const before = lstatIfExists(path)
  if (before === undefined) return undefined
  if (!before.isFile()) throw wrongKindError('file', name, before)
  // O_NONBLOCK: opening a FIFO that has replaced the file meanwhile must not block.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = undefinedIfMissing(() => openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
  if (descriptor === undefined) return undefined
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw wrongKindError('file', name, stats)
    return work(descriptor, stats)
  } finally {
    closeSync(descriptor)
  }
}

/** The error for a symbolic link, a directory or a special file where another kind of file is expected. */
export function wrongKindError(wanted: string, name: string, stats: Stats): StorageError {
  const found = stats.isSymbolicLink()
    ? 'a symbolic link'
    : stats.isDirectory()
      ? 'a directory'
      : stats.isFile()
        ? 'a file'
        : 'a special file'
  return new StorageError('invalid-path', `\`${name}\` is ${found} where a ${wanted} is expected; move it away`)
}
