import {
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Change } from '../generated/component/interfaces/agent-memory-core-documents.js'
import { CommitFailure, StorageFailure, unlessMissing } from './failure.ts'
import { segmentsOf, temporaryName } from './paths.ts'
import { longestDocument, type Sides, versionOf } from './tree.ts'
import { enterDirectory, findDirectory, hashRegular, lookAt } from './walk.ts'

const mostChanges = 1000

/** `full` survives a loss of power once it is acknowledged; `relaxed` leaves the syncs to the system. */
export type Durability = 'full' | 'relaxed'

/**
 * Makes the changes in order, with the tree's lock held, and returns the version of each document.
 *
 * Until the first rename nothing is visible, and a failure takes back what was prepared. From then on a
 * failure leaves the changes before it, and says how many. A person's editor takes no lock: what it saves
 * between the last look at a document and the rename, a moment later, is lost.
 */
export function commit(sides: Sides, changes: readonly Change[], durability: Durability): string[] {
  const attempt = new Attempt(sides, durability)
  try {
    return attempt.run(changes)
  } catch (error) {
    attempt.cleanUp()
    throw new CommitFailure(StorageFailure.from(error, attempt.doing), attempt.current, attempt.applied)
  }
}

/** One change on its way to the disk. */
interface Step {
  readonly change: Change
  /** Below the side's root, without the name. */
  readonly directories: readonly string[]
  readonly name: string
  /** Where it stands, once that is known to exist. */
  directory?: string
  /** What the check of the version found. */
  found?: Stats
}

class Attempt {
  /** The index of the change that is worked on. */
  current: number | undefined
  applied = 0
  doing = 'commit'
  readonly #sides: Sides
  readonly #durability: Durability
  readonly #steps: Step[] = []
  readonly #temporaries = new Set<string>()
  /** The directories made, each after the one that holds it. */
  readonly #made: string[] = []
  /** The directories to sync, in order. */
  readonly #touched = new Set<string>()

  constructor(sides: Sides, durability: Durability) {
    this.#sides = sides
    this.#durability = durability
  }

  run(changes: readonly Change[]): string[] {
    this.#plan(changes)
    this.#each((step) => this.#checkVersion(step))
    this.#each((step) => this.#makeDirectories(step))
    this.#each((step) => this.#writeTemporary(step))
    this.#each((step) => this.#apply(step))
    this.doing = 'make the changes durable'
    this.#syncDirectories()
    return changes.map(({ tag, val }) => (tag === 'put' ? versionOf(val.contents) : ''))
  }

  /** Removes what is not part of the changes that stand, and makes those survive. */
  cleanUp(): void {
    for (const path of this.#temporaries) quietly(() => unlinkSync(path))
    for (const directory of this.#made.toReversed()) quietly(() => rmdirSync(directory))
    if (this.applied > 0) quietly(() => this.#syncDirectories())
  }

  #each(stage: (step: Step) => void): void {
    for (const [index, step] of this.#steps.entries()) {
      this.current = index
      this.doing = `${step.change.tag === 'put' ? 'write' : 'delete'} \`${step.change.val.path}\``
      stage(step)
    }
    this.current = undefined
  }

  #plan(changes: readonly Change[]): void {
    if (changes.length > mostChanges) {
      throw new StorageFailure('too-large', `a commit has more than ${mostChanges} changes; split it`)
    }
    const seen = new Set<string>()
    for (const [index, change] of changes.entries()) {
      this.current = index
      const { side, path } = change.val
      const segments = segmentsOf(path)
      if (change.tag === 'put' && change.val.contents.length > longestDocument) {
        throw new StorageFailure(
          'too-large',
          `\`${path}\` would be longer than ${longestDocument} bytes; shorten it or split it`,
        )
      }
      const key = `${side}/${path}`
      if (seen.has(key)) throw new StorageFailure('invalid-path', `\`${path}\` stands twice in one commit`)
      seen.add(key)
      this.#steps.push({ change, directories: segments.slice(0, -1), name: segments.at(-1)! })
    }
  }

  #checkVersion(step: Step): void {
    const { side, path, expects } = step.change.val
    const directory = findDirectory(this.#sides[side], step.directories)
    const file = directory === undefined ? undefined : hashRegular(directory, step.name)
    if (file?.version !== expects) throw versionMismatch(path)
    if (directory !== undefined) step.directory = directory
    if (file !== undefined) step.found = file.stats
  }

  /** One by one, each looked at: never through a symbolic link. */
  #makeDirectories(step: Step): void {
    if (step.directory !== undefined) return
    const { anchor, segments } = this.#sides[step.change.val.side]
    let directory = anchor
    for (const segment of [...segments, ...step.directories]) {
      const path = join(directory, segment)
      if (lookAt(path) === undefined) {
        mkdirSync(path)
        this.#made.push(path)
        this.#touched.add(directory)
      }
      directory = enterDirectory(directory, segment)!
    }
    step.directory = directory
  }

  #writeTemporary({ change, name, directory, found }: Step): void {
    if (change.tag !== 'put') return
    const path = join(directory!, temporaryName(name))
    unlessMissing(() => unlinkSync(path)) // What a crash left behind.
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
    this.#temporaries.add(path)
    try {
      if (found) fchmodSync(descriptor, found.mode & 0o7777)
      const { contents } = change.val
      for (let at = 0; at < contents.length;) at += writeSync(descriptor, contents, at)
      if (this.#durability === 'full') fdatasyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }

  #apply({ change, name, directory, found }: Step): void {
    const path = join(directory!, name)
    if (!isSame(lookAt(path), found)) throw versionMismatch(change.val.path)
    if (change.tag === 'put') {
      const temporary = join(directory!, temporaryName(name))
      renameSync(temporary, path)
      this.#temporaries.delete(temporary)
    } else {
      unlinkSync(path)
    }
    this.applied++
    this.#touched.add(directory!)
  }

  #syncDirectories(): void {
    if (this.#durability === 'relaxed') return
    for (const directory of this.#touched) syncDirectory(directory)
  }
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Whether nobody has touched a file since. */
function isSame(now: Stats | undefined, before: Stats | undefined): boolean {
  return (
    now?.ino === before?.ino &&
    now?.size === before?.size &&
    now?.mtimeMs === before?.mtimeMs &&
    now?.ctimeMs === before?.ctimeMs
  )
}

function versionMismatch(path: string): StorageFailure {
  return new StorageFailure('version-mismatch', `\`${path}\` is not as it was when it was read; call again`)
}

/** For cleaning up: the error that led there is the one to report, and the next writer removes what stays. */
function quietly(work: () => void): void {
  try {
    work()
  } catch {}
}
