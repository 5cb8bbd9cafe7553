import { LockReply } from './shared-state.ts'
import { monotonic } from './time.ts'

/** A call's place among the calls of an `AgentMemory` that may change something. */
export interface Ticket {
  readonly number: number
  /** When the call first wanted a lock, on the clock `monotonic`. */
  waitingSince?: number
  /** The lock that the call wants or has. */
  lock?: string
  timedOut: boolean
  wake?: () => void
}

/**
 * The calls that wait for locks: first come, first served, for each lock.
 *
 * A call is next for its lock once two conditions hold. No earlier call has or wants this lock, and every earlier call
 * has ended or has requested a lock. A call requests a lock while it runs, and keeps its place until it ends or
 * requests another lock.
 */
export class WaitQueue {
  readonly #timeout: number
  #next = 0
  /** The calls that have not wanted a lock yet, in order of arrival. All later calls wait for the first of them. */
  readonly #undecided = new Set<Ticket>()
  /** The calls that have or want each lock, in order of arrival. */
  readonly #queues = new Map<string, Ticket[]>()

  /** A call times out `timeout` milliseconds after it first wanted a lock. */
  constructor(timeout: number) {
    this.#timeout = timeout
  }

  enter(): Ticket {
    const ticket: Ticket = { number: this.#next++, timedOut: false }
    this.#undecided.add(ticket)
    return ticket
  }

  /**
   * Replies to a running call that wants a lock: to take it, to run again later, or that the call has timed out. A call
   * that wanted another lock before moves to the queue of this lock, to its place in the order of arrival.
   */
  request(ticket: Ticket, lock: string): LockReply {
    ticket.waitingSince ??= monotonic()
    if (ticket.lock !== lock) {
      this.#remove(ticket)
      ticket.lock = lock
      const queue = this.#queues.get(lock) ?? []
      const previous = queue.findLastIndex((other) => other.number < ticket.number)
      queue.splice(previous + 1, 0, ticket)
      this.#queues.set(lock, queue)
      this.#wakeNext()
    }
    if (ticket.timedOut) return LockReply.timeout
    return this.#isNext(ticket) ? LockReply.acquire : LockReply.retry
  }

  /** Whether the call may take any lock at once: no earlier call is left, and no call has or wants a lock. */
  isFirst(ticket: Ticket): boolean {
    const [undecided] = this.#undecided
    return undecided === ticket && this.#queues.size === 0
  }

  /** Resolves when the call is next or has timed out. The call is then run again. */
  async wait(ticket: Ticket): Promise<void> {
    if (this.#isNext(ticket)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    ticket.wake = resolve
    const left = Math.max(0, ticket.waitingSince! + this.#timeout - monotonic())
    const timer = setTimeout(() => {
      ticket.timedOut = true
      resolve()
    }, left)
    await promise
    clearTimeout(timer)
    delete ticket.wake
  }

  leave(ticket: Ticket): void {
    this.#remove(ticket)
    this.#wakeNext()
  }

  #remove(ticket: Ticket): void {
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

  #wakeNext(): void {
    for (const [head] of this.#queues.values()) if (head!.wake && this.#isNext(head!)) head!.wake()
  }
}
