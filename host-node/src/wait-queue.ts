import { Turn } from './shared-state.ts'
import { monotonic } from './time.ts'

/** A call's place among the calls of a memory that may change something. */
export interface Ticket {
  readonly number: number
  /** When it first asked for a lock, on the clock `monotonic`. */
  askedAt?: number
  /** The lock that it holds or wants. */
  lock?: string
  impatient: boolean
  wake?: () => void
}

/**
 * First come, first served, for every lock that the calls of a memory want.
 *
 * A call wants at most one lock, and keeps its place until it ends. It gets the lock once every earlier call has ended
 * or is known to want some lock, and no earlier one wants this one. Which lock a call wants is known when its first run
 * asks.
 */
export class WriterOrder {
  readonly #patience: number
  #next = 0
  /** In order of arrival; the first is the one that everything after it waits for. */
  readonly #undecided = new Set<Ticket>()
  /** By lock, in order of arrival. */
  readonly #queues = new Map<string, Ticket[]>()

  /** `patience`: milliseconds from a call's first request after which its answer is `never`. */
  constructor(patience: number) {
    this.#patience = patience
  }

  enter(): Ticket {
    const ticket: Ticket = { number: this.#next++, impatient: false }
    this.#undecided.add(ticket)
    return ticket
  }

  /** Notes that a running call wants a lock. One that wants another lock when it is run again takes its place there. */
  ask(ticket: Ticket, lock: string): Turn {
    ticket.askedAt ??= monotonic()
    if (ticket.lock !== lock) {
      this.#withdraw(ticket)
      ticket.lock = lock
      const queue = this.#queues.get(lock) ?? []
      const behind = queue.findLastIndex((other) => other.number < ticket.number)
      queue.splice(behind + 1, 0, ticket)
      this.#queues.set(lock, queue)
      this.#wake()
    }
    if (ticket.impatient) return Turn.never
    return this.#isNext(ticket) ? Turn.now : Turn.later
  }

  /** Resolves when it is worth running the call again: its turn has come, or its patience is over. */
  async turn(ticket: Ticket): Promise<void> {
    if (this.#isNext(ticket)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    ticket.wake = resolve
    const left = Math.max(0, ticket.askedAt! + this.#patience - monotonic())
    const patience = setTimeout(() => {
      ticket.impatient = true
      resolve()
    }, left)
    await promise
    clearTimeout(patience)
    delete ticket.wake
  }

  leave(ticket: Ticket): void {
    this.#withdraw(ticket)
    this.#wake()
  }

  #withdraw(ticket: Ticket): void {
    this.#undecided.delete(ticket)
    const queue = this.#queues.get(ticket.lock ?? '')
    if (queue === undefined) return
    queue.splice(queue.indexOf(ticket), 1)
    if (queue.length === 0) this.#queues.delete(ticket.lock!)
    delete ticket.lock
  }

  #isNext(ticket: Ticket): boolean {
    const [undecided] = this.#undecided
    const isDecided = undecided === undefined || ticket.number < undecided.number
    return isDecided && this.#queues.get(ticket.lock!)![0] === ticket
  }

  #wake(): void {
    for (const [head] of this.#queues.values()) if (head!.wake && this.#isNext(head!)) head!.wake()
  }
}
