import {
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  linkSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Change, Edit } from '../generated/component/interfaces/agent-memory-storage-documents.js'
import { CommitFailure, StorageFailure, unlessMissing } from './error.ts'
import { temporaryName } from './paths.ts'
import { spliced } from './splices.ts'
import { type Areas, longestDocument, segmentsIn, versionOf } from './tree.ts'
import {
  type Durability,
  enterDirectory,
  findDirectory,
  hashRegular,
  lookAt,
  makeOne,
  notA,
  type Root,
  syncDirectory,
} from './directory.ts'

const mostChanges = 1000

/** What a medium answers that has no links, or none to this file. */
const noLinks = new Set(['EPERM', 'EACCES', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/**
 * Makes the changes in order, with the place's lock held, and returns the version of each document, but of none that is
 * deleted.
 * `checkLock` throws where the lock excludes nobody any more.
 *
 * Until the first rename nothing is visible, and a failure takes back what was prepared. From then on a
 * failure leaves the changes before it, and says how many. A person's editor takes no lock: what it saves
 * between the last look at a document and the rename, a moment later, is lost.
 */
export function commit(
  areas: Areas,
  changes: readonly Change[],
  durability: Durability,
  checkLock: () => void = () => {},
): (string | undefined)[] {
  const attempt = new Attempt(areas, durability, checkLock)
  try {
    return attempt.run(changes)
  } catch (error) {
    attempt.cleanUp()
    throw new CommitFailure(StorageFailure.from(error, attempt.doing), attempt.current, attempt.applied)
  }
}

const doing = { put: 'write', edit: 'write', copy: 'write', delete: 'delete', rename: 'rename a document to' } as const

/** Where a document stands in an area. */
interface Spot {
  readonly path: string
  /** Below the area's root, without the name. */
  readonly directories: readonly string[]
  readonly name: string
}

/** One change on its way to the disk. */
interface Step {
  readonly change: Change
  /** What is written or deleted; of a rename, the new path. */
  readonly target: Spot
  /** The document whose version is checked: but for a copy and a rename, the same. */
  readonly checked: Spot
  /** Where it stands, once that is known to exist. */
  directory?: string
  /** What the check of the version found. */
  found?: Stats
  foundVersion?: string
  /** What it holds, where it is edited and no other document is. */
  foundContents?: Buffer | undefined
  /** Whether nothing stands at the target. */
  isNew?: boolean
  /** The new version, once it is known. */
  version?: string
  /** Whether the temporary file is the document itself under another name. */
  linked?: boolean
}

/** A document whose version is checked. */
interface Found {
  readonly version: string
  readonly stats: Stats
  readonly contents?: Buffer | undefined
}

class Attempt {
  /** The index of the change that is worked on. */
  current: number | undefined
  applied = 0
  doing = 'commit'
  readonly #areas: Areas
  readonly #durability: Durability
  readonly #checkLock: () => void
  readonly #steps: Step[] = []
  readonly #temporaries = new Set<string>()
  /** The directories made, each after the one that holds it. */
  readonly #made: string[] = []
  /** The directories to sync, in order. */
  readonly #touched = new Set<string>()

  constructor(areas: Areas, durability: Durability, checkLock: () => void) {
    this.#areas = areas
    this.#durability = durability
    this.#checkLock = checkLock
  }

  run(changes: readonly Change[]): (string | undefined)[] {
    this.#checkLock()
    this.#plan(changes)
    this.#each((step) => this.#checkVersion(step))
    this.#each((step) => this.#makeDirectories(step))
    this.#each((step) => this.#writeTemporary(step))
    // Whoever removed the lock since has let in another writer, who may have read what these changes replace.
    this.#checkLock()
    this.#each((step) => this.#apply(step))
    this.doing = 'make the changes durable'
    this.#syncDirectories()
    return this.#steps.map(({ version }) => version)
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
      this.doing = `${doing[step.change.tag]} \`${step.target.path}\``
      stage(step)
    }
    this.current = undefined
  }

  #plan(changes: readonly Change[]): void {
    if (changes.length > mostChanges) {
      throw new StorageFailure('too-large', `a commit has more than ${mostChanges} changes; split it`)
    }
    for (const [index, change] of changes.entries()) {
      this.current = index
      const { tag, val } = change
      const root = this.#areas[val.area]
      const moves = tag === 'copy' || tag === 'rename'
      const target = spotOf(root, moves ? val.to : val.path)
      const checked = moves ? spotOf(root, val.from) : target
      if (tag === 'put') checkLength(val.path, val.contents)
      this.#steps.push({ change, target, checked })
    }
    this.#checkConsistent()
  }

  #checkConsistent(): void {
    const key = ({ change, target }: Step, { path } = target) => `${change.val.area}/${path}`
    const seen = new Set<string>()
    this.#each((step) => {
      for (const spot of step.change.tag === 'rename' ? [step.checked, step.target] : [step.target]) {
        const twice = `\`${spot.path}\` stands twice in one commit`
        if (seen.has(key(step, spot))) throw new StorageFailure('invalid-path', twice)
        seen.add(key(step, spot))
      }
    })
    const files = new Set(this.#steps.filter(({ change }) => change.tag !== 'delete').map((step) => key(step)))
    this.#each(({ change, target: { path, directories } }) => {
      for (let depth = 1; depth <= directories.length; depth++) {
        const above = directories.slice(0, depth).join('/')
        if (!files.has(`${change.val.area}/${above}`)) continue
        const both = `\`${above}\` cannot be both a document and the directory of \`${path}\``
        throw new StorageFailure('invalid-path', both)
      }
    })
  }

  #checkVersion(step: Step): void {
    const file = this.#foundBefore(step) ?? this.#readChecked(step)
    if (file?.version !== step.change.val.expects) throw versionMismatch(step.checked.path)
    if (file !== undefined) {
      step.found = file.stats
      step.foundVersion = file.version
      step.foundContents = file.contents
    }
    const { path, directories, name } = step.target
    const directory = findDirectory(this.#areas[step.change.val.area], directories)
    if (directory !== undefined) step.directory = directory
    const replaced = directory === undefined ? undefined : lookAt(join(directory, name))
    step.isNew = replaced === undefined
    if (replaced === undefined) return
    if (step.change.tag === 'rename') throw alreadyExists(path)
    if (!replaced.isFile()) throw notA('file', name, replaced)
  }

  /** What an earlier change that looks at the same document found, as a backup and what replaces the document do. */
  #foundBefore({ change, checked }: Step): Found | undefined {
    const before = this.#steps.find(
      (step) => step.found && step.change.val.area === change.val.area && step.checked.path === checked.path,
    )
    if (before === undefined) return undefined
    const directory = findDirectory(this.#areas[change.val.area], checked.directories)
    const isStill = directory !== undefined && isSame(lookAt(join(directory, checked.name)), before.found)
    if (!isStill || (change.tag === 'copy' && before.found!.size > longestDocument)) return undefined
    return { version: before.foundVersion!, stats: before.found!, contents: before.foundContents }
  }

  /** A commit has many changes: of several documents that are edited none is held until it is written. */
  #readChecked(step: Step): Found | undefined {
    const [edit, another] = this.#steps.filter(({ change }) => change.tag === 'edit')
    const isEdited = edit?.change.val.area === step.change.val.area && edit.target.path === step.checked.path
    return isEdited && another === undefined ? this.#readWhole(step) : this.#hashChecked(step)
  }

  #readWhole(step: Step): Found | undefined {
    const pieces: Buffer[] = []
    const hashed = this.#hashChecked(step, (piece) => pieces.push(Buffer.from(piece)))
    return hashed && { ...hashed, contents: Buffer.concat(pieces) }
  }

  /** What an edit makes of the document. */
  #edited(step: Step, { path, splices, expects }: Edit): Buffer {
    const { version, contents } = step.foundContents
      ? { version: step.foundVersion, contents: step.foundContents }
      : (this.#readWhole(step) ?? {})
    // An editor may have saved it since it was checked.
    const after = version === expects && contents && spliced(contents, splices)
    if (!after) throw versionMismatch(path)
    checkLength(path, after)
    return after
  }

  /** The version of the document whose version is checked, or undefined where there is none. */
  #hashChecked({ change, checked }: Step, take?: (piece: Uint8Array) => void): ReturnType<typeof hashRegular> {
    const directory = findDirectory(this.#areas[change.val.area], checked.directories)
    const limit = change.tag === 'copy' || change.tag === 'edit' ? longestDocument : Infinity
    return directory === undefined ? undefined : hashRegular(directory, checked.name, limit, take)
  }

  /** One by one, each looked at: never through a symbolic link. */
  #makeDirectories(step: Step): void {
    if (step.directory !== undefined) return
    const { anchor, segments, isPrivate = false } = this.#areas[step.change.val.area]
    let directory = anchor
    for (const segment of [...segments, ...step.target.directories]) {
      const path = join(directory, segment)
      if (lookAt(path) === undefined) {
        makeOne(path, isPrivate)
        this.#made.push(path)
        this.#touched.add(directory)
      }
      directory = enterDirectory(directory, segment)!
    }
    step.directory = directory
  }

  #writeTemporary(step: Step): void {
    const { change, target, checked, directory, found } = step
    if (change.tag === 'delete' || change.tag === 'rename') return
    const path = join(directory!, temporaryName(target.name))
    unlessMissing(() => unlinkSync(path)) // What a crash left behind.
    if (this.#linkTemporary(step, path)) return
    const edited = change.tag === 'edit' ? this.#edited(step, change.val) : undefined
    // A backup is for nobody who may not read the document.
    const mode = this.#areas[change.val.area].isPrivate ? 0o600 : found && found.mode & 0o7777
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (mode ?? 0o666) & 0o777)
    this.#temporaries.add(path)
    try {
      if (mode !== undefined) fchmodSync(descriptor, mode)
      const write = (piece: Uint8Array) => {
        for (let at = 0; at < piece.length;) at += writeSync(descriptor, piece, at)
      }
      if (change.tag === 'copy') {
        step.version = change.val.expects
        // An editor may have saved it since it was checked.
        if (this.#hashChecked(step, write)?.version !== step.version) throw versionMismatch(checked.path)
      } else {
        const contents = change.tag === 'put' ? change.val.contents : edited!
        write(contents)
        step.version = versionOf(contents)
      }
      // After a loss of power a new document would else be an empty one.
      if (this.#durability === 'full' || step.isNew) fdatasyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }

  /**
   * Makes the old file the backup, where another change of the commit puts a new one in its place: its contents
   * need not be written again. Otherwise both would go on as one file, and an editor that writes in place would
   * change the backup.
   */
  #linkTemporary(step: Step, path: string): boolean {
    const { change, checked, found } = step
    if (change.tag !== 'copy') return false
    const { area, from } = change.val
    const root = this.#areas[area]
    const isReplaced = this.#steps.some(({ change, target }) => change.val.area === area && target.path === from)
    if (!isReplaced || (root.isPrivate && (found!.mode & 0o777) !== 0o600)) return false
    const directory = findDirectory(root, checked.directories)
    if (directory === undefined) throw versionMismatch(from)
    try {
      linkSync(join(directory, checked.name), path)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') throw versionMismatch(from)
      if (noLinks.has(code)) return false
      throw error
    }
    this.#temporaries.add(path)
    step.linked = true
    step.version = change.val.expects
    if (!isSame(lookAt(path), found)) throw versionMismatch(from)
    return true
  }

  #apply(step: Step): void {
    const { change, target, checked, directory, found, linked = false } = step
    if (change.tag === 'rename') return this.#rename(step)
    const path = join(directory!, target.name)
    const temporary = join(directory!, temporaryName(target.name))
    // An editor that writes in place has changed what is linked.
    const looked = change.tag !== 'copy' ? path : linked ? temporary : undefined
    if (looked !== undefined && !isSame(lookAt(looked), found)) throw versionMismatch(checked.path)
    if (change.tag === 'delete') {
      unlinkSync(path)
    } else {
      // After a crash between the two, document and backup are one file. Renaming one name of a file to another
      // does nothing.
      if (linked && isSame(lookAt(path), found)) unlinkSync(temporary)
      else renameSync(temporary, path)
      this.#temporaries.delete(temporary)
    }
    this.#stands(directory!)
  }

  #rename(step: Step): void {
    const { change, target, checked, directory, found } = step
    const before = findDirectory(this.#areas[change.val.area], checked.directories)
    const from = before && join(before, checked.name)
    if (from === undefined || !isSame(lookAt(from), found)) throw versionMismatch(checked.path)
    const to = join(directory!, target.name)
    if (lookAt(to) !== undefined) throw alreadyExists(target.path)
    renameSync(from, to)
    step.version = change.val.expects!
    this.#stands(before!, directory!)
  }

  /** Notes that a change stands, in these directories. */
  #stands(...directories: string[]): void {
    this.applied++
    for (const directory of directories) this.#touched.add(directory)
  }

  #syncDirectories(): void {
    if (this.#durability === 'relaxed') return
    for (const directory of this.#touched) syncDirectory(directory)
  }
}

function spotOf(root: Root, path: string): Spot {
  const segments = segmentsIn(root, path)
  return { path, directories: segments.slice(0, -1), name: segments.at(-1)! }
}

function checkLength(path: string, contents: Uint8Array): void {
  if (contents.length <= longestDocument) return
  throw new StorageFailure(
    'too-large',
    `\`${path}\` would be longer than ${longestDocument} bytes; shorten it or split it`,
  )
}

/** Whether nobody has touched a file since. Another name for it is no touch, though it changes `ctime`. */
function isSame(now: Stats | undefined, before: Stats | undefined): boolean {
  return (
    now?.ino === before?.ino &&
    now?.mode === before?.mode &&
    now?.size === before?.size &&
    now?.mtimeMs === before?.mtimeMs
  )
}

function alreadyExists(path: string): StorageFailure {
  return new StorageFailure('already-exists', `something stands at \`${path}\`; take another path`)
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
