import { Turn } from './control.ts'
import { monotonic } from './time.ts'

/** A call's place among the calls of a memory that may change something. */
export interface Place {
  readonly number: number
  /** When it first asked for a lock, on the clock `monotonic`. */
  askedAt?: number
  /** The locks that it holds or wants: at most one of a tree and one of a database. */
  locks: ReadonlySet<string>
  /** A lock that earlier calls get first: they may want this call's lock after it. */
  after?: string
  impatient: boolean
  wake?: () => void
}

/**
 * First come, first served, for every lock that the calls of a memory want.
 *
 * A call gets a lock once every earlier call has ended or is known to want some lock, and no earlier one holds or
 * wants this one, or the one that is taken before it: so no call is overtaken by a later one that knew at once what it
 * needs. Which lock a call wants is known when its first run asks.
 */
export class WriterOrder {
  readonly #patience: number
  #next = 0
  /** In order of arrival; the first is the one that everything after it waits for. */
  readonly #undecided = new Set<Place>()
  /** By lock, in order of arrival. */
  readonly #queues = new Map<string, Place[]>()

  /** `patience`: milliseconds from a call's first request after which its answer is `never`. */
  constructor(patience: number) {
    this.#patience = patience
  }

  enter(): Place {
    const place: Place = { number: this.#next++, locks: new Set(), impatient: false }
    this.#undecided.add(place)
    return place
  }

  /** Notes that a running call wants a lock, beside those that it holds. */
  ask(place: Place, lock: string, holds: readonly string[] = [], after?: string): Turn {
    place.askedAt ??= monotonic()
    place.after = after
    const locks = new Set([...holds, lock])
    if (locks.symmetricDifference(place.locks).size > 0) {
      this.#withdraw(place)
      place.locks = locks
      for (const each of locks) {
        const queue = this.#queues.get(each) ?? []
        const behind = queue.findLastIndex((other) => other.number < place.number)
        queue.splice(behind + 1, 0, place)
        this.#queues.set(each, queue)
      }
      this.#wake()
    }
    if (place.impatient) return Turn.never
    return this.#isNext(place) ? Turn.now : Turn.later
  }

  /** Resolves when it is worth running the call again: its turn has come, or its patience is over. */
  async turn(place: Place): Promise<void> {
    if (this.#isNext(place)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    place.wake = resolve
    const left = Math.max(0, place.askedAt! + this.#patience - monotonic())
    const patience = setTimeout(() => {
      place.impatient = true
      resolve()
    }, left)
    await promise
    clearTimeout(patience)
    delete place.wake
  }

  leave(place: Place): void {
    this.#withdraw(place)
    this.#wake()
  }

  #withdraw(place: Place): void {
    this.#undecided.delete(place)
    for (const lock of place.locks) {
      const queue = this.#queues.get(lock)!
      queue.splice(queue.indexOf(place), 1)
      if (queue.length === 0) this.#queues.delete(lock)
    }
    place.locks = new Set()
  }

  #isNext(place: Place): boolean {
    const [undecided] = this.#undecided
    const decided = undecided === undefined || place.number < undecided.number
    const earliest = place.after === undefined ? undefined : this.#queues.get(place.after)?.[0]
    const letsPass = earliest !== undefined && earliest.number < place.number
    return decided && !letsPass && [...place.locks].every((lock) => this.#queues.get(lock)![0] === place)
  }

  #wake(): void {
    for (const [head] of this.#queues.values()) if (head!.wake && this.#isNext(head!)) head!.wake()
  }
}
