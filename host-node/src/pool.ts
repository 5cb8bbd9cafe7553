import { Worker } from 'node:worker_threads'
import { SharedState, type LockReply } from './shared-state.ts'
import { MemoryCallError } from './errors.ts'
import type { MemorySettings, Message, Report, Request } from './messages.ts'

/** The report that ends a request. */
export type Answer = Exclude<Report, { kind: 'wants-lock' | 'takes-lock' | 'waits-for-lock' | 'closed' }>

export interface Job {
  readonly request: Request
  /** The most milliseconds that the component itself may run. */
  readonly guestTime: number
  /** Replies to a worker that wants a lock. */
  readonly onLockWanted: (lock: string) => LockReply
  /**
   * Whether the job goes to the front of the queue: it runs a call again that is now next for its lock,
   * or has timed out.
   */
  readonly isUrgent: boolean
}

/** The options of a memory for the pool. */
export interface MemberOptions {
  /** Resolves once the component is compiled. */
  readonly settings: Promise<MemorySettings>
  /** The maximum number of workers that run calls of the memory. Workers that wait for a lock do not count. */
  readonly size: number
  /** The most milliseconds that one statement on a database may run. */
  readonly statementTime: number
}

/** A memory that the pool serves. */
export interface Member {
  run(job: Job): Promise<Answer>
  /**
   * Ends the calls of the memory, and closes what workers have open for it. The last memory to leave ends all workers.
   */
  leave(): Promise<void>
}

interface PoolMember extends Member, MemberOptions {
  readonly number: number
}

interface QueuedJob extends Job {
  readonly member: PoolMember
  readonly settings: MemorySettings
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: MemoryCallError) => void
}

/**
 * The maximum number of workers of a memory that wait for a lock, as a multiple of the memory's `size`.
 */
const maxWaitingFactor = 4

/**
 * The worker threads for all open memories of a component. Each runs one request at a time. They start when they are
 * needed, do not keep the process alive, and end when the last memory is closed.
 *
 * A worker that waits for a lock does not count toward `size`. So a lock that another process holds for
 * long does not take workers from reads, from the writers of other places or from other memories.
 */
export class WorkerPool {
  readonly #program: string
  readonly #members = new Set<PoolMember>()
  readonly #queue: QueuedJob[] = []
  readonly #workers = new Set<PoolWorker>()
  #lastNumber = 0

  /** `program` is a script in CommonJS. */
  constructor(program: string) {
    this.#program = program
  }

  join(options: MemberOptions): Member {
    // Avoids an unhandled rejection: each call rejects with this error anyway.
    options.settings.catch(() => {})
    const member: PoolMember = {
      ...options,
      number: ++this.#lastNumber,
      run: (job) => this.#run(member, job),
      leave: () => this.#leave(member),
    }
    this.#members.add(member)
    return member
  }

  async #run(member: PoolMember, job: Job): Promise<Answer> {
    // The first thread starts while the component is compiled.
    if (this.#workers.size === 0) this.#start()
    const settings = await member.settings.catch((error) => {
      throw new MemoryCallError('trap', `the component cannot be compiled: ${error}`)
    })
    if (!this.#members.has(member)) throw closedError()
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const queued = { ...job, member, settings, resolve, reject }
    if (job.isUrgent) this.#queue.unshift(queued)
    else this.#queue.push(queued)
    this.#assign()
    return promise
  }

  async #leave(member: PoolMember): Promise<void> {
    this.#members.delete(member)
    for (const job of this.#queue.filter((job) => job.member === member)) {
      this.#queue.splice(this.#queue.indexOf(job), 1)
      job.reject(closedError())
    }
    const isLast = this.#members.size === 0
    const closing = [...this.#workers].map((worker) =>
      isLast || worker.member === member ? worker.end(closedError()) : worker.forget(member),
    )
    await Promise.all(closing)
  }

  #assign(): void {
    for (const job of [...this.#queue]) {
      if (!this.#mayStart(job.member)) continue
      this.#queue.splice(this.#queue.indexOf(job), 1)
      this.#idleWorker(job.member).run(job)
    }
  }

  /** Whether one more call of this memory may run now. */
  #mayStart(member: PoolMember): boolean {
    const busy = [...this.#workers].filter((worker) => !worker.isIdle)
    const running = busy.filter((worker) => !worker.waitsForLock)
    const own = busy.filter((worker) => worker.member === member)
    const waiting = own.filter((worker) => worker.waitsForLock)
    const size = Math.max(...[...this.#members].map(({ size }) => size))
    return running.length < size && own.length < member.size + Math.min(waiting.length, maxWaitingFactor * member.size)
  }

  /** An idle worker, if possible one that already serves this memory. Starts a worker if none is idle. */
  #idleWorker(member: PoolMember): PoolWorker {
    const idle = [...this.#workers].filter((worker) => worker.isIdle)
    return idle.find((worker) => worker.knows(member)) ?? idle[0] ?? this.#start()
  }

  #start(): PoolWorker {
    const worker = new PoolWorker(this.#program, {
      onFree: () => this.#assign(),
      onEnd: () => {
        this.#workers.delete(worker)
        this.#assign()
      },
    })
    this.#workers.add(worker)
    return worker
  }
}

function closedError(): MemoryCallError {
  return new MemoryCallError('closed', 'the memory was closed')
}

/** The events of a worker that its pool handles. */
interface WorkerEvents {
  /** Another job may start: the worker is idle, or it waits for a lock. */
  onFree(): void
  onEnd(): void
}

/** The maximum number of memories for which a worker keeps databases and places open. */
const maxKnown = 4

/** Node 22 warns in each thread that SQLite is experimental. */
const execArgv = process.versions.node.startsWith('22.') ? ['--disable-warning=ExperimentalWarning'] : []

/** One worker thread, until it ends. */
class PoolWorker {
  /** Whether its job had to wait for a lock. The job may have the lock by now. */
  waitsForLock = false
  readonly #sharedState = new SharedState()
  readonly #worker: Worker
  readonly #events: WorkerEvents
  /** The memories that were opened in the worker, the most recently used last. */
  readonly #known = new Set<PoolMember>()
  #job: QueuedJob | undefined
  #timer: NodeJS.Timeout | undefined
  /** Why the thread ends or has ended. */
  #endReason: MemoryCallError | undefined
  /** The number of waits for the thread. While it is not 0, the thread keeps the process alive. */
  #waiting = 0

  constructor(program: string, events: WorkerEvents) {
    this.#events = events
    this.#worker = new Worker(program, { eval: true, workerData: this.#sharedState.memory, env: {}, execArgv })
    this.#worker.unref()
    this.#worker.on('message', (report: Report) => this.#receive(report))
    this.#worker.on(
      'error',
      (error) => (this.#endReason ??= new MemoryCallError('trap', `the worker thread failed: ${error}`)),
    )
    this.#worker.on('exit', () => this.#handleExit())
  }

  get isIdle(): boolean {
    return this.#job === undefined && this.#endReason === undefined
  }

  /** The memory whose job the worker runs. Undefined while it is idle. */
  get member(): PoolMember | undefined {
    return this.#job?.member
  }

  knows(member: PoolMember): boolean {
    return this.#known.has(member)
  }

  run(job: QueuedJob): void {
    const { member, request } = job
    this.#job = job
    this.#sharedState.reset()
    this.#beginWait()
    this.#open(member, job.settings)
    this.#send({ kind: 'serve', memory: member.number, request })
    this.#scheduleCheck(Math.min(job.guestTime, member.statementTime))
  }

  /**
   * Closes the databases and places that the worker has open for a memory. Waits until they are closed,
   * unless the worker is busy with a job.
   */
  async forget(member: PoolMember): Promise<void> {
    if (!this.#known.delete(member)) return
    const { isIdle } = this
    this.#send({ kind: 'close', memory: member.number })
    if (!isIdle) return
    this.#beginWait()
    await new Promise<void>((resolve) => {
      const onMessage = (report: Report) => {
        if (report.kind === 'closed' && report.memory === member.number) done()
      }
      const done = () => {
        this.#worker.off('message', onMessage).off('exit', done)
        this.#endWait()
        resolve()
      }
      this.#worker.on('message', onMessage).on('exit', done)
    })
  }

  async end(reason: MemoryCallError): Promise<void> {
    this.#endReason ??= reason
    await this.#worker.terminate()
  }

  /** Opens a memory in the thread unless it is open. Closes the least recently used one if there are too many. */
  #open(member: PoolMember, settings: MemorySettings): void {
    const memory = member.number
    if (!this.#known.delete(member)) this.#send({ kind: 'open', memory, settings })
    this.#known.add(member)
    if (this.#known.size > maxKnown) {
      const [oldest] = this.#known
      this.#known.delete(oldest!)
      this.#send({ kind: 'close', memory: oldest!.number })
    }
  }

  #send(message: Message): void {
    this.#worker.postMessage(message)
  }

  /** Schedules a check of the time limits in `left` milliseconds, the earliest time at which one can be exceeded. */
  #scheduleCheck(left: number): void {
    this.#timer = setTimeout(() => void this.#checkTime(), left)
  }

  /** Gives up the call or ends the thread if a time limit is exceeded. Otherwise checks again later. */
  async #checkTime(): Promise<void> {
    const job = this.#job
    if (job === undefined) return
    const { guestTime, member } = job
    const { statementTime } = member
    if (this.#sharedState.statementTime() >= statementTime) return this.#abandon(statementTime)
    let used = this.#sharedState.guestTime()
    // On a busy machine the thread may have waited for a processor. Only the processor time counts.
    if (used >= guestTime) {
      const time = await this.#sharedState.processorTime(this.#worker).catch(() => undefined)
      // The thread has ended or finished its job meanwhile.
      if (time === undefined || this.#job !== job || this.#endReason !== undefined) return
      used = time
    }
    if (used < guestTime) {
      const left = Math.min(guestTime - used, statementTime - this.#sharedState.statementTime())
      return this.#scheduleCheck(Math.max(left, 1))
    }
    this.#endReason = new MemoryCallError('deadline', `the component ran for more than ${guestTime} ms and was ended`)
    void this.#worker.terminate()
  }

  /**
   * Gives up a thread that runs a statement, without waiting for its end. Node cannot interrupt SQLite: the thread and
   * its locks last until the statement ends.
   */
  #abandon(statementTime: number): void {
    this.#endReason = new MemoryCallError(
      'deadline',
      `a statement on a database ran for more than ${statementTime} ms; it was given up`,
    )
    void this.#worker.terminate()
    this.#handleExit()
  }

  #receive(report: Report): void {
    const job = this.#job
    if (report.kind === 'closed') return
    if (job === undefined) return // The job was given up.
    if (report.kind === 'wants-lock') return this.#sharedState.reply(job.onLockWanted(report.lock))
    if (report.kind === 'takes-lock') return void job.onLockWanted(report.lock)
    if (report.kind === 'waits-for-lock') {
      this.waitsForLock = true
    } else {
      this.#finishJob()
      job.resolve(report)
    }
    this.#events.onFree()
  }

  /**
   * Rejects the job. Called when the thread has exited: only then its locks are free for the next
   * writer. `#abandon` alone calls it earlier.
   */
  #handleExit(): void {
    const job = this.#job
    this.#finishJob()
    this.#endReason ??= new MemoryCallError('trap', 'the worker thread ended by itself')
    job?.reject(this.#endReason)
    this.#events.onEnd()
  }

  #finishJob(): void {
    if (this.#job === undefined) return
    clearTimeout(this.#timer)
    this.#job = undefined
    this.waitsForLock = false
    this.#endWait()
  }

  #beginWait(): void {
    if (this.#waiting++ === 0) this.#worker.ref()
  }

  #endWait(): void {
    if (--this.#waiting === 0) this.#worker.unref()
  }
}
