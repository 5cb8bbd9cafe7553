import { type Control, Turn } from '../shared-state.ts'
import type { Kind, Mode } from '../generated/component/interfaces/agent-memory-storage-database.js'
import type { Change } from '../generated/component/interfaces/agent-memory-storage-documents.js'
import type { Place } from '../generated/component/interfaces/agent-memory-storage-types.js'
import type { Report, WorkerSettings } from '../messages.ts'
import { commit } from '../storage/commit.ts'
import type { Database, Databases } from '../storage/database/database.ts'
import { nested } from '../storage/database/error.ts'
import { databaseFile } from '../storage/database/file.ts'
import type { Transaction } from '../storage/database/transaction.ts'
import { CommitFailure, StorageFailure } from '../storage/error.ts'
import { busy, Lock } from '../storage/lock.ts'
import { findNamed, namedTree } from '../storage/named-place.ts'
import { findRepository, listRepositories } from '../storage/repository.ts'
import type { Areas, Granted } from '../storage/tree.ts'
import type { Root } from '../storage/directory.ts'
import { monotonic } from '../time.ts'
import { PlaceLock } from './place-lock.ts'

/** Thrown through the guest to end a run with this report. It is an `Error`, which jco passes on. */
export class EndOfRun extends Error {
  readonly report: Report

  constructor(report: Report) {
    super(report.kind)
    this.report = report
  }
}

/** The component's own types leave out what it does not use. */
export type PlaceKind = { tag: 'repository' } | { tag: 'named'; val: string }

/** How many trees and how many databases a call may have open. */
const mostTrees = 1000
const mostDatabases = 100

/** The storage that one call sees, and all that it has opened. */
export class CallStorage {
  readonly #settings: WorkerSettings
  readonly #control: Control
  readonly #say: (report: Report) => void
  readonly #databases: Databases
  readonly #lock = new PlaceLock((root, path) => this.#acquire(root, path))
  #since: number | undefined
  /** The lock that it has had its turn for. */
  #turn: string | undefined
  #writes = false
  #transaction: { readonly takesLock: boolean } | undefined
  #calls = 0
  #trees = 0

  /** `since`: when the call first asked for a lock, if an earlier run of it has. */
  constructor(
    settings: WorkerSettings,
    control: Control,
    say: (report: Report) => void,
    databases: Databases,
    since: number | undefined,
  ) {
    this.#settings = settings
    this.#control = control
    this.#say = say
    this.#databases = databases
    this.#since = since
  }

  /** The seam: the guest's clock stands still, and only a plain object is thrown back into it. */
  run<T>(work: () => T): T {
    this.#control.leaveGuest()
    try {
      this.#count()
      return work()
    } catch (error) {
      if (error instanceof EndOfRun) throw error
      throw error instanceof CommitFailure ? error.record() : StorageFailure.from(error, 'use the storage').record()
    } finally {
      this.#control.enterGuest()
    }
  }

  open(place: Place): Granted {
    const tree = this.#find(place)
    if (++this.#trees > mostTrees) throw ended('trap', `it has more than ${mostTrees} trees open`)
    return tree
  }

  closeTree(): void {
    this.#trees--
  }

  listPlaces(kind: PlaceKind): string[] {
    if (kind.tag === 'repository') return listRepositories(this.#settings.grants)
    findNamed(this.#settings.places, kind.val)
    return ['']
  }

  createPlace(place: Place): never {
    if (place.tag === 'named') findNamed(this.#settings.places, place.val.label)
    const why = place.tag === 'repository' ? 'a repository: create it with Git' : 'one of a family of places'
    throw new StorageFailure('not-granted', `this host creates no place that is ${why}`)
  }

  lock(tree: Granted): void {
    if (this.#writes) throw new StorageFailure('nested', 'the call holds a writer already: a call takes one at a time')
    if (this.#transaction?.takesLock) {
      throw new StorageFailure('nested', 'the call has a write transaction: it takes its writer before')
    }
    this.#lock.take(tree.lock)
    this.#writes = true
  }

  commit(areas: Areas, changes: Change[]): (string | undefined)[] {
    return commit(areas, changes, this.#settings.durability, () => this.#lock.check())
  }

  release(): void {
    this.#writes = false
    this.#lock.release()
  }

  openDatabase(place: Place, name: string, kind: Kind, create: boolean): Database {
    const database = this.#databases.get(databaseFile(this.#find(place), name, kind))
    if (this.#databases.inUse > mostDatabases) throw ended('trap', `it has more than ${mostDatabases} databases open`)
    database.open(create)
    return database
  }

  begin(database: Database, mode: Mode): Transaction {
    if (this.#transaction) throw nested()
    const { lock } = database.file
    const takesLock = mode.tag === 'write' && lock !== undefined
    const transaction = takesLock ? this.#beginUnderLock(database, lock) : database.begin(mode.tag, this.#ended)
    this.#transaction = { takesLock }
    return transaction
  }

  /** Closes whatever the call has open, however it ended. */
  close(): void {
    try {
      this.#databases.endCall()
    } finally {
      this.#lock.close()
    }
  }

  readonly #ended = () => {
    this.#transaction = undefined
  }

  #beginUnderLock(database: Database, root: Root): Transaction {
    database.checkWritable()
    const since = this.#since ?? monotonic()
    const { lock, isNew } = this.#lock.take(root)
    try {
      const ended = () => {
        this.#ended()
        this.#lock.release()
      }
      return database.begin('write', ended, isNew ? { since, until: lock.atHeadUntil } : undefined)
    } catch (error) {
      this.#lock.release()
      throw error
    }
  }

  /** Waits for its turn among the calls of this process, unless it has had it, and then for other processes. */
  #acquire(root: Root, path: string): Lock {
    const since = this.#since ?? monotonic()
    this.#since = undefined
    if (this.#turn !== path) {
      const turn = this.#control.ask(() => this.#say({ kind: 'asks', lock: path }))
      // Nothing was changed: that takes the lock.
      if (turn === Turn.later) throw new EndOfRun({ kind: 'deferred' })
      if (turn === Turn.never) throw busy(since)
      this.#turn = path
    }
    const { patience, durability } = this.#settings
    return Lock.acquire(root, patience, since, () => this.#say({ kind: 'waits' }), durability)
  }

  #find(place: Place): Granted {
    if (place.tag === 'repository') return findRepository(place.val, this.#settings.grants)
    const { label, name } = place.val
    const found = findNamed(this.#settings.places, label)
    if (name === '') return namedTree(found)
    throw new StorageFailure('invalid-path', `the place \`${label}\` is alone and has no name: leave it empty`)
  }

  #count(): void {
    const { storageCalls } = this.#settings
    if (++this.#calls > storageCalls) throw ended('storage-calls', `it asked storage more than ${storageCalls} times`)
  }
}

function ended(reason: 'storage-calls' | 'trap', message: string): EndOfRun {
  return new EndOfRun({ kind: 'ended', reason, message })
}
