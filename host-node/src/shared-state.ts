// By index: `answer` in the 32-bit view (bytes 16 to 19), all others in the 64-bit view.
const spent = 0
const since = 1
const processor = 3
const answer = 4
const statement = 4

/** Answers to a worker that asks for a lock. */
export const Turn = {
  /** It is this call's turn: take the lock. */
  now: 1,
  /** Others are first: end this run, the call is run again when its turn has come. */
  later: 2,
  /** The call has waited too long. */
  never: 3,
} as const
export type Turn = (typeof Turn)[keyof typeof Turn]

/**
 * What a worker shares with the main thread while it runs a call: how much time the guest itself has used and since
 * when a statement runs, which the main thread reads to end a runaway, and the main thread's answer to the one
 * question that a worker asks.
 */
export class Control {
  readonly memory: SharedArrayBuffer
  readonly #times: BigInt64Array
  readonly #words: Int32Array

  constructor(memory = new SharedArrayBuffer(40)) {
    this.memory = memory
    this.#times = new BigInt64Array(memory)
    this.#words = new Int32Array(memory)
  }

  reset(): void {
    Atomics.store(this.#times, spent, 0n)
    Atomics.store(this.#times, since, 0n)
    this.leaveStatement()
  }

  /** On the worker: what the thread has used of a processor before this call, in microseconds. */
  begin(): void {
    const { user, system } = process.threadCpuUsage()
    Atomics.store(this.#times, processor, BigInt(user + system))
  }

  /** Milliseconds of a processor that the thread has used for this call, once it has used so much in all. */
  processorTime({ user, system }: NodeJS.CpuUsage): number {
    return (user + system - Number(Atomics.load(this.#times, processor))) / 1e3
  }

  /** The guest runs from now on. */
  enterGuest(): void {
    Atomics.store(this.#times, since, process.hrtime.bigint())
  }

  /** The host works for the guest, or the call is over. */
  leaveGuest(): void {
    const entered = Atomics.exchange(this.#times, since, 0n)
    if (entered !== 0n) Atomics.add(this.#times, spent, process.hrtime.bigint() - entered)
  }

  /** Milliseconds since `reset` in which it was the guest's turn to run, whether a processor was free or not. */
  guestTime(): number {
    const entered = Atomics.load(this.#times, since)
    const running = entered === 0n ? 0n : process.hrtime.bigint() - entered
    return Number(Atomics.load(this.#times, spent) + running) / 1e6
  }

  /** A statement on a database runs from now on. */
  enterStatement(): void {
    Atomics.store(this.#times, statement, process.hrtime.bigint())
  }

  leaveStatement(): void {
    Atomics.store(this.#times, statement, 0n)
  }

  /** Milliseconds for which the statement runs that runs now; 0 where none does. */
  statementTime(): number {
    const entered = Atomics.load(this.#times, statement)
    return entered === 0n ? 0 : Number(process.hrtime.bigint() - entered) / 1e6
  }

  /** On the worker: sends the question and blocks until the main thread answers. */
  ask(send: () => void): Turn {
    Atomics.store(this.#words, answer, 0)
    send()
    Atomics.wait(this.#words, answer, 0)
    return Atomics.load(this.#words, answer) as Turn
  }

  /** On the main thread. */
  reply(turn: Turn): void {
    Atomics.store(this.#words, answer, turn)
    Atomics.notify(this.#words, answer)
  }
}
