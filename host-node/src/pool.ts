import { Worker } from 'node:worker_threads'
import { SharedState, type LockReply } from './shared-state.ts'
import { MemoryCallError } from './errors.ts'
import type { Report, Request, WorkerSettings } from './messages.ts'
import type { Modules } from './worker/component.ts'

/** The report that ends a request. */
export type Answer = Exclude<Report, { kind: 'wants-lock' | 'takes-lock' | 'waits-for-lock' }>

export interface Job {
  readonly request: Request
  /** The most milliseconds that the component itself may run. */
  readonly guestTime: number
  /** Replies to a worker that wants a lock. */
  readonly onLockWanted: (lock: string) => LockReply
  /** Whether the job goes before the other queued jobs: a call runs again, now next for its lock or timed out. */
  readonly isUrgent: boolean
}

interface QueuedJob extends Job {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: MemoryCallError) => void
}

/** The most workers that wait for a lock, as a multiple of the pool's size. */
const maxWaitingFactor = 4

/**
 * Worker threads that run one request each. They start when they are needed and do not keep the process alive.
 *
 * A worker that waits for a lock does not count toward the size. So a lock that another process holds for long does not
 * take workers from reads and from the writers of other places.
 */
export class WorkerPool {
  /** Undefined until the component is compiled. */
  #settings: Omit<WorkerSettings, 'sharedState'> | undefined
  readonly #size: number
  readonly #statementTime: number
  #failure: MemoryCallError | undefined
  readonly #queue: QueuedJob[] = []
  readonly #workers = new Set<PoolWorker>()

  /** `statementTime` is the most milliseconds that one statement on a database may run. */
  constructor(
    settings: Omit<WorkerSettings, 'sharedState' | 'modules'>,
    compiled: Promise<Modules>,
    size: number,
    statementTime: number,
  ) {
    this.#size = size
    this.#statementTime = statementTime
    compiled.then(
      (modules) => {
        this.#settings = { ...settings, modules }
        this.#assign()
      },
      (error) => this.#fail(new MemoryCallError('trap', `the component cannot be compiled: ${error}`)),
    )
  }

  run(job: Job): Promise<Answer> {
    if (this.#failure) return Promise.reject(this.#failure)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const queued = { ...job, resolve, reject }
    if (job.isUrgent) this.#queue.unshift(queued)
    else this.#queue.push(queued)
    this.#assign()
    return promise
  }

  /** Rejects all calls, also later ones. */
  #fail(error: MemoryCallError): void {
    this.#failure = error
    for (const { reject } of this.#queue.splice(0)) reject(error)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.end()))
  }

  #assign(): void {
    while (this.#settings !== undefined && this.#queue.length > 0) {
      const workers = [...this.#workers]
      const idle = workers.find((worker) => worker.isIdle)
      const busy = workers.filter((worker) => !worker.isIdle).length
      const waiting = workers.filter((worker) => worker.waitsForLock).length
      if (busy >= this.#size + Math.min(waiting, maxWaitingFactor * this.#size)) return
      ;(idle ?? this.#start(this.#settings)).run(this.#queue.shift()!)
    }
  }

  #start(settings: Omit<WorkerSettings, 'sharedState'>): PoolWorker {
    const worker = new PoolWorker(settings, this.#statementTime, {
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

/** The events of a worker that its pool handles. */
interface WorkerEvents {
  /** Another job may start: the worker is idle, or it waits for a lock. */
  onFree(): void
  onEnd(): void
}

/** One worker thread, until it ends. */
class PoolWorker {
  /** Whether its job had to wait for a lock. The job may have the lock by now. */
  waitsForLock = false
  readonly #sharedState = new SharedState()
  readonly #worker: Worker
  readonly #statementTime: number
  readonly #events: WorkerEvents
  #job: QueuedJob | undefined
  #timer: NodeJS.Timeout | undefined
  /** Why the thread ends or has ended. */
  #endReason: MemoryCallError | undefined

  constructor(settings: Omit<WorkerSettings, 'sharedState'>, statementTime: number, events: WorkerEvents) {
    this.#statementTime = statementTime
    this.#events = events
    this.#worker = new Worker(new URL('./worker/worker.js', import.meta.url), {
      workerData: { ...settings, sharedState: this.#sharedState.memory },
      env: {},
      execArgv: [],
    })
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

  run(job: QueuedJob): void {
    this.#job = job
    this.#sharedState.reset()
    this.#worker.ref()
    this.#worker.postMessage(job.request)
    this.#scheduleCheck(Math.min(job.guestTime, this.#statementTime))
  }

  async end(): Promise<void> {
    this.#endReason ??= new MemoryCallError('closed', 'the memory was closed')
    await this.#worker.terminate()
  }

  /** Checks the time limits in `left` milliseconds, when the call can have reached one at the earliest. */
  #scheduleCheck(left: number): void {
    this.#timer = setTimeout(() => void this.#checkTime(), left)
  }

  /** Gives up the call or ends the thread if a time limit is exceeded. Otherwise checks again later. */
  async #checkTime(): Promise<void> {
    const job = this.#job
    if (job === undefined) return
    const { guestTime } = job
    const statementTime = this.#statementTime
    if (this.#sharedState.statementTime() >= statementTime) return this.#abandon()
    let used = this.#sharedState.guestTime()
    // On a busy machine the thread may have waited for a processor. Only the processor time counts.
    if (used >= guestTime) {
      const thread = await this.#worker.cpuUsage().catch(() => undefined)
      // The thread has ended or finished its job meanwhile.
      if (thread === undefined || this.#job !== job || this.#endReason !== undefined) return
      used = this.#sharedState.processorTime(thread)
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
  #abandon(): void {
    this.#endReason = new MemoryCallError(
      'deadline',
      `a statement on a database ran for more than ${this.#statementTime} ms; it was given up`,
    )
    void this.#worker.terminate()
    this.#handleExit()
  }

  #receive(report: Report): void {
    const job = this.#job
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

  /** Rejects the job only now, when the thread has released its locks: the next writer starts after that. */
  #handleExit(): void {
    const job = this.#job
    this.#finishJob()
    this.#endReason ??= new MemoryCallError('trap', 'the worker thread ended by itself')
    job?.reject(this.#endReason)
    this.#events.onEnd()
  }

  #finishJob(): void {
    clearTimeout(this.#timer)
    this.#job = undefined
    this.waitsForLock = false
    this.#worker.unref()
  }
}
