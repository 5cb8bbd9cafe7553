import { type SharedState, LockReply } from '../shared-state.ts'
import type { Kind, Mode } from '../generated/component/interfaces/agent-memory-storage-database.js'
import type { Change } from '../generated/component/interfaces/agent-memory-storage-documents.js'
import type { Place } from '../generated/component/interfaces/agent-memory-storage-types.js'
import type { Report, WorkerSettings } from '../messages.ts'
import { commit } from '../storage/commit.ts'
import type { Database, Databases } from '../storage/database/database.ts'
import { nestedError } from '../storage/database/error.ts'
import { databaseFile } from '../storage/database/file.ts'
import type { Transaction } from '../storage/database/transaction.ts'
import { CommitError, StorageError } from '../storage/error.ts'
import { busyError, Lock } from '../storage/lock.ts'
import { namedTree } from '../storage/named-place.ts'
import type { Places } from '../storage/places.ts'
import { findRepository, listRepositories } from '../storage/repository.ts'
import type { Areas, GrantedPlace } from '../storage/tree.ts'
import type { LockDirectory } from '../storage/directory.ts'
import { monotonic } from '../time.ts'
import { PlaceLock } from './place-lock.ts'

/** Thrown through the guest to end a run with this report. jco passes an `Error` through to the host. */
export class EndOfRun extends Error {
  readonly report: Report

  constructor(report: Report) {
    super(report.kind)
    this.report = report
  }
}

/** A `place-kind` of wit/storage. jco generates no type for it, because the component does not use it. */
export type PlaceKind = { tag: 'repository' } | { tag: 'named'; val: string }

/** The most trees and the most databases that a call may have open. */
const maxOpenTrees = 1000
const maxOpenDatabases = 100

/** The storage of one call. It keeps track of everything that the call has open. */
export class CallStorage {
  readonly #settings: WorkerSettings
  readonly #sharedState: SharedState
  readonly #send: (report: Report) => void
  readonly #databases: Databases
  readonly #places: Places
  readonly #lock = new PlaceLock((root, path) => this.#acquire(root, path))
  #waitingSince: number | undefined
  /** The lock that the main thread has let it acquire, by its path. */
  #allowedLock: string | undefined
  #hasWriter = false
  #transaction: { readonly takesLock: boolean } | undefined
  #calls = 0
  #trees = 0

  /** `waitingSince`: when an earlier run of the call wanted a lock, if one did. */
  constructor(
    settings: WorkerSettings,
    sharedState: SharedState,
    send: (report: Report) => void,
    databases: Databases,
    waitingSince: number | undefined,
    places: Places,
  ) {
    this.#settings = settings
    this.#sharedState = sharedState
    this.#send = send
    this.#databases = databases
    this.#waitingSince = waitingSince
    this.#places = places
  }

  /** Runs the host's part of an import. The guest's time is not counted meanwhile. Errors become plain objects. */
  run<T>(work: () => T): T {
    this.#sharedState.leaveGuest()
    try {
      this.#countCall()
      return work()
    } catch (error) {
      if (error instanceof EndOfRun) throw error
      throw error instanceof CommitError ? error.record() : StorageError.from(error, 'use the storage').record()
    } finally {
      this.#sharedState.enterGuest()
    }
  }

  open(place: Place): GrantedPlace {
    const tree = this.#find(place)
    if (++this.#trees > maxOpenTrees) throw callEnded('trap', `it has more than ${maxOpenTrees} trees open`)
    return tree
  }

  closeTree(): void {
    this.#trees--
  }

  listPlaces(kind: PlaceKind): string[] {
    if (kind.tag === 'repository') return listRepositories(this.#settings.grants)
    const place = this.#places.find(kind.val)
    return 'path' in place ? [''] : this.#places.family(kind.val).names()
  }

  /** Creates a place of a family. It waits for its turn at the place's lock first, so that the run can begin anew. */
  createPlace(place: Place): GrantedPlace {
    if (place.tag === 'repository') {
      throw new StorageError('not-granted', 'a repository is not created here: create it with Git')
    }
    const { label, name } = place.val
    if ('path' in this.#places.find(label)) {
      const message = `the place \`${label}\` is not created here: it is no family of places`
      throw new StorageError('not-granted', message)
    }
    if (this.#hasWriter || this.#transaction?.takesLock) {
      throw new StorageError('nested', 'the call holds the lock of a place: create a place before it')
    }
    const family = this.#places.family(label)
    const since = this.#awaitTurn(family.lockOfNew(name))
    family.create(name, this.#settings.durability, (root) => this.#take(root, since))
    return this.open(place)
  }

  lock(tree: GrantedPlace): void {
    if (this.#hasWriter) throw new StorageError('nested', 'the call holds a writer already: a call takes one at a time')
    if (this.#transaction?.takesLock) {
      throw new StorageError('nested', 'the call has a write transaction: it takes its writer before')
    }
    this.#lock.take(tree.lock)
    this.#hasWriter = true
  }

  commit(areas: Areas, changes: Change[]): (string | undefined)[] {
    return commit(areas, changes, this.#settings.durability, () => this.#lock.check())
  }

  /**
   * Whether temporary files in a place are left from killed writers: the call has the place's writer. In a place with
   * databases, another process may be making a database under such a name, without the lock.
   */
  mayClean(tree: GrantedPlace): boolean {
    const hasDatabases = tree.databases.length > 0 || tree.file !== undefined
    return this.#hasWriter && !hasDatabases && this.#lock.isOf(tree.lock)
  }

  release(): void {
    this.#hasWriter = false
    this.#lock.release()
  }

  openDatabase(place: Place, name: string, kind: Kind, create: boolean): Database {
    const database = this.#databases.get(databaseFile(this.#find(place), name, kind))
    if (this.#databases.inUse > maxOpenDatabases)
      throw callEnded('trap', `it has more than ${maxOpenDatabases} databases open`)
    database.open(create)
    return database
  }

  begin(database: Database, mode: Mode): Transaction {
    if (this.#transaction) throw nestedError()
    const { lock } = database.file
    const takesLock = mode.tag === 'write' && lock !== undefined
    const transaction = takesLock
      ? this.#beginUnderLock(database, lock)
      : database.begin(mode.tag, this.#onTransactionEnd)
    this.#transaction = { takesLock }
    return transaction
  }

  /** Closes everything that the call has open, however it ended. */
  close(): void {
    try {
      this.#databases.endCall()
    } finally {
      this.#lock.close()
    }
  }

  readonly #onTransactionEnd = () => {
    this.#transaction = undefined
  }

  #beginUnderLock(database: Database, root: LockDirectory): Transaction {
    database.checkWritable()
    const since = this.#waitingSince ?? monotonic()
    const { lock, isNew } = this.#lock.take(root)
    try {
      const onEnd = () => {
        this.#onTransactionEnd()
        this.#lock.release()
      }
      return database.begin('write', onEnd, isNew ? { since, until: lock.atHeadUntil } : undefined)
    } catch (error) {
      this.#lock.release()
      throw error
    }
  }

  /** Waits for the earlier calls of this process, and then for other processes. */
  #acquire(root: LockDirectory, path: string): Lock {
    return this.#take(root, this.#awaitTurn(path))
  }

  /** Waits for the earlier calls of this process, unless it has done so before. Returns when the wait began. */
  #awaitTurn(path: string): number {
    const since = this.#waitingSince ?? monotonic()
    this.#waitingSince = undefined
    if (this.#allowedLock !== path) {
      const reply = this.#sharedState.waitForReply(() => this.#send({ kind: 'wants-lock', lock: path }))
      // The run has changed nothing yet, since changes need the lock. So it can be run again.
      if (reply === LockReply.retry) throw new EndOfRun({ kind: 'retry' })
      if (reply === LockReply.timeout) throw busyError(since)
      this.#allowedLock = path
    }
    return since
  }

  #take(root: LockDirectory, since: number): Lock {
    const { lockTimeout, durability } = this.#settings
    return Lock.acquire(root, lockTimeout, since, () => this.#send({ kind: 'waits-for-lock' }), durability)
  }

  #find(place: Place): GrantedPlace {
    if (place.tag === 'repository') return findRepository(place.val, this.#settings.grants)
    const { label, name } = place.val
    const found = this.#places.find(label)
    if (!('path' in found)) return this.#places.family(label).tree(name)
    if (name === '') return namedTree(found)
    throw new StorageError('invalid-path', `the place \`${label}\` is alone and has no name: leave it empty`)
  }

  #countCall(): void {
    const { storageCalls } = this.#settings
    if (++this.#calls > storageCalls)
      throw callEnded('storage-calls', `it asked storage more than ${storageCalls} times`)
  }
}

function callEnded(reason: 'storage-calls' | 'trap', message: string): EndOfRun {
  return new EndOfRun({ kind: 'ended', reason, message })
}
