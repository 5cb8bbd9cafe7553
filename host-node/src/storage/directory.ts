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
import { StorageFailure, unlessMissing } from './error.ts'

/** A directory that the host trusts, by its canonical path, and the way down from it, which it does not trust. */
export interface Root {
  readonly anchor: string
  readonly segments: readonly string[]
  /** What is made there is for its owner alone (700, 600). */
  readonly isPrivate?: boolean
  /** What stands there and is no document: no path begins with one of these names, in any case. */
  readonly ownNames?: readonly string[]
}

/** `full` survives a loss of power once it is acknowledged; `relaxed` leaves the syncs to the system. */
export type Durability = 'full' | 'relaxed'

/** What stands at a path itself, or undefined where nothing does. */
export function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

/**
 * The directory `name` in another, or undefined where there is none.
 *
 * It is looked at before it is entered: a symbolic link or anything else but a directory is `invalid-path`.
 * Node has no `openat`, so what is exchanged between this look and its use is followed; the README
 * states this race.
 */
export function enterDirectory(parent: string, name: string): string | undefined {
  const path = join(parent, name)
  const stats = lookAt(path)
  if (stats === undefined) return undefined
  if (!stats.isDirectory()) throw notA('directory', name, stats)
  return path
}

/** The directory at `segments` below a root, or undefined where any of it is missing. */
export function findDirectory(root: Root, segments: readonly string[]): string | undefined {
  let directory: string | undefined = root.anchor
  for (const segment of [...root.segments, ...segments]) {
    directory = enterDirectory(directory, segment)
    if (directory === undefined) return undefined
  }
  return directory
}

/** The directory itself. Makes what is missing of the way to it. */
export function makeDirectory({ anchor, segments, isPrivate = false }: Root, durability: Durability): string {
  let directory = anchor
  for (const segment of segments) {
    const path = join(directory, segment)
    if (lookAt(path) === undefined && unlessThere(() => makeOne(path, isPrivate)) && durability === 'full') {
      syncDirectory(directory)
    }
    if (enterDirectory(directory, segment) === undefined) {
      throw new StorageFailure('io', `\`${segment}\` was removed as soon as it was made; call again`)
    }
    directory = path
  }
  return directory
}

export function makeOne(path: string, isPrivate: boolean): void {
  mkdirSync(path, { mode: isPrivate ? 0o700 : 0o777 })
}

/** Whether it was made: not where it is there. */
export function unlessThere(make: () => void): boolean {
  try {
    make()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

/** Makes what was created, renamed and removed in it survive a loss of power. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The contents of the regular file `name` in a directory, or undefined where there is none. */
export function readRegular(directory: string, name: string, limit: number): Buffer | undefined {
  return withRegular(directory, name, (descriptor, { size }) => {
    if (size > limit) throw tooLarge(name, limit)
    // One byte more than expected tells a file that grew since.
    let buffer = Buffer.allocUnsafe(size + 1)
    let length = 0
    for (let read; (read = readSync(descriptor, buffer, length, buffer.length - length, null)) > 0;) {
      length += read
      if (length > limit) throw tooLarge(name, limit)
      if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(length)])
    }
    return buffer.subarray(0, length)
  })
}

/** The version of a regular file, and what the system says about it. Its contents go to `take`, in pieces. */
export function hashRegular(
  directory: string,
  name: string,
  limit = Infinity,
  take: (piece: Uint8Array) => void = () => {},
): { version: string; stats: Stats } | undefined {
  return withRegular(directory, name, (descriptor, stats) => {
    if (stats.size > limit) throw tooLarge(name, limit)
    const digest = createHash('sha256')
    const buffer = Buffer.allocUnsafe(64 * 1024)
    let length = 0
    for (let read; (read = readSync(descriptor, buffer)) > 0;) {
      length += read
      if (length > limit) throw tooLarge(name, limit)
      const piece = buffer.subarray(0, read)
      digest.update(piece)
      take(piece)
    }
    return { version: digest.digest('hex'), stats }
  })
}

function tooLarge(name: string, limit: number): StorageFailure {
  return new StorageFailure('too-large', `\`${name}\` is longer than ${limit} bytes; shorten it or split it`)
}

function withRegular<T>(directory: string, name: string, work: (descriptor: number, stats: Stats) => T): T | undefined {
  const path = join(directory, name)
  const before = lookAt(path)
  if (before === undefined) return undefined
  if (!before.isFile()) throw notA('file', name, before)
  // O_NONBLOCK: what was exchanged for a FIFO meanwhile must not hold the call.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = unlessMissing(() => openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
  if (descriptor === undefined) return undefined
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw notA('file', name, stats)
    return work(descriptor, stats)
  } finally {
    closeSync(descriptor)
  }
}

export function notA(wanted: string, name: string, stats: Stats): StorageFailure {
  const found = stats.isSymbolicLink()
    ? 'a symbolic link'
    : stats.isDirectory()
      ? 'a directory'
      : stats.isFile()
        ? 'a file'
        : 'a special file'
  return new StorageFailure('invalid-path', `\`${name}\` is ${found} where a ${wanted} is expected; move it away`)
}
