import { Worker } from 'node:worker_threads'

/** Whether this Node can tell the processor time of a single thread: to the thread itself and to the main thread. */
const tellsThreads = 'threadCpuUsage' in process && 'cpuUsage' in Worker.prototype

// Indices: `reply` in the 32-bit view (bytes 16 to 19), all others in the 64-bit view.
const guestNanoseconds = 0
const guestSince = 1
const reply = 4
const processorBefore = 3
const statementSince = 4

/** The main thread's reply to a worker that wants a lock. */
export const LockReply = {
  /** The call is next: acquire the lock. */
  acquire: 1,
  /** Other calls are before it: end this run. The call is run again once it is next. */
  retry: 2,
  /** The call has waited for too long. */
  timeout: 3,
} as const
export type LockReply = (typeof LockReply)[keyof typeof LockReply]

/**
 * Memory that a worker thread and the main thread share while the worker runs a call.
 *
 * The worker writes how long the guest and the current statement have run, so that the main thread can end a call that
 * takes too long. The main thread writes its reply to a worker that wants a lock.
 */
export class SharedState {
  readonly memory: SharedArrayBuffer
  readonly #times: BigInt64Array
  readonly #words: Int32Array

  constructor(memory = new SharedArrayBuffer(40)) {
    this.memory = memory
    this.#times = new BigInt64Array(memory)
    this.#words = new Int32Array(memory)
  }

  reset(): void {
    Atomics.store(this.#times, guestNanoseconds, 0n)
    Atomics.store(this.#times, guestSince, 0n)
    this.leaveStatement()
  }

  /**
   * On the worker: stores the processor time that the thread has used before this call. Node before 24.6 tells only the
   * time of the whole process. The check then counts other threads, too, so a call may be ended before it has used its
   * limit of processor time, but never before that much time has passed.
   */
  beginCall(): void {
    const { user, system } = tellsThreads ? process.threadCpuUsage() : process.cpuUsage()
    Atomics.store(this.#times, processorBefore, BigInt(user + system))
  }

  /** On the main thread: the milliseconds of processor time that this call has used. */
  async processorTime(worker: Worker): Promise<number> {
    const { user, system } = tellsThreads ? await worker.cpuUsage() : process.cpuUsage()
    return (user + system - Number(Atomics.load(this.#times, processorBefore))) / 1e3
  }

  /** Notes that the guest (the component) runs from now on. */
  enterGuest(): void {
    Atomics.store(this.#times, guestSince, process.hrtime.bigint())
  }

  /** Notes that the guest does not run: the host works for it, or the call is over. */
  leaveGuest(): void {
    const entered = Atomics.exchange(this.#times, guestSince, 0n)
    if (entered !== 0n) Atomics.add(this.#times, guestNanoseconds, process.hrtime.bigint() - entered)
  }

  /** The milliseconds that the guest has run since `reset`: elapsed time, not processor time. */
  guestTime(): number {
    const entered = Atomics.load(this.#times, guestSince)
    const running = entered === 0n ? 0n : process.hrtime.bigint() - entered
    return Number(Atomics.load(this.#times, guestNanoseconds) + running) / 1e6
  }

  /** Notes that a statement on a database runs from now on. */
  enterStatement(): void {
    Atomics.store(this.#times, statementSince, process.hrtime.bigint())
  }

  leaveStatement(): void {
    Atomics.store(this.#times, statementSince, 0n)
  }

  /** The milliseconds that the current statement has run, or 0 if no statement runs. */
  statementTime(): number {
    const entered = Atomics.load(this.#times, statementSince)
    return entered === 0n ? 0 : Number(process.hrtime.bigint() - entered) / 1e6
  }

  /** On the worker: calls `send` and blocks until the main thread replies. */
  waitForReply(send: () => void): LockReply {
    Atomics.store(this.#words, reply, 0)
    send()
    Atomics.wait(this.#words, reply, 0)
    return Atomics.load(this.#words, reply) as LockReply
  }

  /** On the main thread: replies to the worker, and wakes it. */
  reply(answer: LockReply): void {
    Atomics.store(this.#words, reply, answer)
    Atomics.notify(this.#words, reply)
  }
}
