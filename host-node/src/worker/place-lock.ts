import { join } from 'node:path'
import { StorageFailure } from '../storage/error.ts'
import type { Lock } from '../storage/lock.ts'
import type { Root } from '../storage/directory.ts'

/** How a call gets the lock of a place, by the path of its directory. */
type Acquire = (root: Root, path: string) => Lock

/**
 * The one lock that a call may have. Its writer and its write transaction share it, and it ends with the last of them.
 * The call may take it again, and that of no other place.
 */
export class PlaceLock {
  readonly #acquire: Acquire
  /** The directory of the lock that it has or had. */
  #path: string | undefined
  #lock: Lock | undefined
  #users = 0

  constructor(acquire: Acquire) {
    this.#acquire = acquire
  }

  /** Waits for it, where the call does not have it; whoever takes it lets go of it once. */
  take(root: Root): { lock: Lock; isNew: boolean } {
    const path = join(root.anchor, ...root.segments)
    if (this.#path !== undefined && this.#path !== path) {
      throw new StorageFailure('nested', 'the call has locked another place: a call locks one place in its life')
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

  /** Throws where it was removed meanwhile. */
  check(): void {
    this.#lock?.check()
  }

  close(): void {
    this.#lock?.release()
    this.#lock = undefined
  }
}
