import { join } from 'node:path'
import { StorageError } from '../storage/error.ts'
import type { Lock } from '../storage/lock.ts'
import type { LockDirectory, Root } from '../storage/directory.ts'

/** Acquires the lock of a place. `path` is the path of the lock's directory. */
type Acquire = (root: LockDirectory, path: string) => Lock

/**
 * The one lock that a call may have. The call's writer and its write transaction share it, and the last of them
 * releases it. The call may take the same lock again, but not the lock of another place.
 */
export class PlaceLock {
  readonly #acquire: Acquire
  /** The directory of the lock that the call has or had. */
  #path: string | undefined
  #lock: Lock | undefined
  #users = 0

  constructor(acquire: Acquire) {
    this.#acquire = acquire
  }

  /** Acquires the lock unless the call has it. Each `take` needs one `release`. */
  take(root: LockDirectory): { lock: Lock; isNew: boolean } {
    const path = pathOf(root)
    if (this.#path !== undefined && this.#path !== path) {
      throw new StorageError('nested', 'the call has locked another place: a call locks one place in its life')
    }
    const isNew = this.#lock === undefined
    const lock = (this.#lock ??= this.#acquire(root, path))
    this.#path = path
    this.#users++
    return { lock, isNew }
  }

  release(): void {
    if (--this.#users === 0) this.close()
  }

  /** Whether the call holds the lock of this place, and nobody has removed its file. */
  isOf(root: Root): boolean {
    if (this.#lock === undefined || this.#path !== pathOf(root)) return false
    try {
      this.check()
      return true
    } catch {
      return false
    }
  }

  /** Throws if the lock's file was removed while it was held. */
  check(): void {
    this.#lock?.check()
  }

  close(): void {
    this.#lock?.release()
    this.#lock = undefined
  }
}

function pathOf(root: Root): string {
  return join(root.anchor, ...root.segments)
}
