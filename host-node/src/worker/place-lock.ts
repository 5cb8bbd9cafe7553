import { StorageError } from '../storage/error.ts'
import type { Lock, Lockable } from '../storage/lock.ts'

/** Acquires the lock of a place. `path` is the path of the lock's directory. */
type Acquire = (place: Lockable, path: string) => Lock

/**
 * The one lock that a call may have at a time. The call's writer and its write transaction share the lock; the last of
 * the two to end releases it. Then the call may take this lock again, or the lock of another place.
 */
export class PlaceLock {
  readonly #acquire: Acquire
  /** The directory of the lock that the call has. */
  #path: string | undefined
  #lock: Lock | undefined
  #users = 0

  constructor(acquire: Acquire) {
    this.#acquire = acquire
  }

  /** Acquires the lock unless the call has it. Each `take` needs one `release`. */
  take(place: Lockable): { lock: Lock; isNew: boolean } {
    const path = place.lockPath()
    if (this.#path !== undefined && this.#path !== path) {
      throw new StorageError('nested', 'the call holds the lock of another place: a call holds one at a time')
    }
    const isNew = this.#lock === undefined
    const lock = (this.#lock ??= this.#acquire(place, path))
    this.#path = path
    this.#users++
    return { lock, isNew }
  }

  release(): void {
    if (--this.#users === 0) this.close()
  }

  /** Whether the call has the lock of this place. */
  isOf(place: Lockable): boolean {
    return this.#lock !== undefined && this.#path === place.lockPath()
  }

  /** Whether the call has the lock, and the file of the lock has not been removed. */
  get isHeld(): boolean {
    return this.#lock?.isHeld ?? false
  }

  close(): void {
    this.#lock?.release()
    this.#lock = undefined
    this.#path = undefined
  }
}
