import { Worker } from 'node:worker_threads'
import { Control, type Turn } from './shared-state.ts'
import { MemoryCallError } from './errors.ts'
import type { Report, Request, WorkerSettings } from './messages.ts'

/** A request's last report. */
export type Answer = Exclude<Report, { kind: 'asks' } | { kind: 'waits' }>

export interface Job {
  readonly request: Request
  /** How long the component itself may run, in milliseconds. */
  readonly guestTime: number
  /** Answers a worker that wants a lock. */
  readonly onAsk: (lock: string) => Turn
  /** Before everything that waits: a call whose turn has come. */
  readonly first: boolean
}

interface Queued extends Job {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: MemoryCallError) => void
}

/** Workers that wait do not count toward the size, up to this many times the size. */
const mostFurther = 4

/**
 * Worker threads that run one request each. They start when they are needed and keep no process alive.
 *
 * A worker that waits for a lock does not count toward the size: a lock that is stuck in another process takes
 * none from reads and from the writers of other trees.
 */
export class WorkerPool {
  readonly #settings: Omit<WorkerSettings, 'control'>
  readonly #size: number
  readonly #statementTime: number
  readonly #waiting: Queued[] = []
  readonly #members = new Set<Member>()

  /** `statementTime` is how many milliseconds one statement on a database may run. */
  constructor(settings: Omit<WorkerSettings, 'control'>, size: number, statementTime: number) {
    this.#settings = settings
    this.#size = size
    this.#statementTime = statementTime
  }

  run(job: Job): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const queued = { ...job, resolve, reject }
    if (job.first) this.#waiting.unshift(queued)
    else this.#waiting.push(queued)
    this.#assign()
    return promise
  }

  async close(): Promise<void> {
    await Promise.all([...this.#members].map((member) => member.end()))
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const members = [...this.#members]
      const idle = members.find((member) => member.idle)
      const busy = members.filter((member) => !member.idle).length
      const waiting = members.filter((member) => member.waits).length
      if (busy >= this.#size + Math.min(waiting, mostFurther * this.#size)) return
      void (idle ?? this.#start()).work(this.#waiting.shift()!)
    }
  }

  #start(): Member {
    const member = new Member(this.#settings, this.#statementTime, {
      changed: () => this.#assign(),
      ended: () => {
        this.#members.delete(member)
        this.#assign()
      },
    })
    this.#members.add(member)
    return member
  }
}

/** What a member tells its pool. */
interface Pool {
  /** It is idle, or it waits. */
  changed(): void
  ended(): void
}

/** One worker thread, until it ends. */
class Member {
  /** Whether its job had to wait for a lock. It may hold the lock by now. */
  waits = false
  readonly #control = new Control()
  readonly #worker: Worker
  readonly #statementTime: number
  readonly #pool: Pool
  #job: Queued | undefined
  #deadline: NodeJS.Timeout | undefined
  #ending: MemoryCallError | undefined

  constructor(settings: Omit<WorkerSettings, 'control'>, statementTime: number, pool: Pool) {
    this.#statementTime = statementTime
    this.#pool = pool
    // `.ts` where the sources themselves are run, as the build does.
    const entry = new URL(
      import.meta.url.endsWith('.ts') ? './worker/worker.ts' : './worker/worker.js',
      import.meta.url,
    )
    this.#worker = new Worker(entry, {
      workerData: { ...settings, control: this.#control.memory },
      env: {},
      execArgv: [],
    })
    this.#worker.unref()
    this.#worker.on('message', (report: Report) => this.#hear(report))
    this.#worker.on(
      'error',
      (error) => (this.#ending ??= new MemoryCallError('trap', `the worker thread failed: ${error}`)),
    )
    this.#worker.on('exit', () => this.#exit())
  }

  get idle(): boolean {
    return this.#job === undefined && this.#ending === undefined
  }

  work(job: Queued): void {
    this.#job = job
    this.#control.reset()
    this.#worker.ref()
    this.#worker.postMessage(job.request)
    this.#watch(Math.min(job.guestTime, this.#statementTime))
  }

  async end(): Promise<void> {
    this.#ending ??= new MemoryCallError('closed', 'the memory was closed')
    await this.#worker.terminate()
  }

  /** Looks again when the call could have used up a bound, and ends the thread once it has. */
  #watch(left: number): void {
    this.#deadline = setTimeout(() => void this.#judge(), left)
  }

  async #judge(): Promise<void> {
    const job = this.#job
    if (job === undefined) return
    const { guestTime } = job
    const statementTime = this.#statementTime
    if (this.#control.statementTime() >= statementTime) return this.#abandon()
    let used = this.#control.guestTime()
    // On a busy machine time passes without a processor, for which the guest is not to blame.
    if (used >= guestTime) {
      const thread = await this.#worker.cpuUsage().catch(() => undefined)
      // It has ended by itself, or has done its job meanwhile.
      if (thread === undefined || this.#job !== job || this.#ending !== undefined) return
      used = this.#control.processorTime(thread)
    }
    if (used < guestTime) {
      const left = Math.min(guestTime - used, statementTime - this.#control.statementTime())
      return this.#watch(Math.max(left, 1))
    }
    this.#ending = new MemoryCallError('deadline', `the component ran for more than ${guestTime} ms and was ended`)
    void this.#worker.terminate()
  }

  /**
   * Gives up a thread that runs a statement. Nothing interrupts SQLite: the thread, and what it has locked, last until
   * the statement ends. Nobody waits for that.
   */
  #abandon(): void {
    this.#ending = new MemoryCallError(
      'deadline',
      `a statement on a database ran for more than ${this.#statementTime} ms; it was given up`,
    )
    void this.#worker.terminate()
    this.#exit()
  }

  #hear(report: Report): void {
    const job = this.#job
    if (job === undefined) return // It was given up.
    if (report.kind === 'asks') return this.#control.reply(job.onAsk(report.lock))
    if (report.kind === 'waits') {
      this.waits = true
    } else {
      this.#rest()
      job.resolve(report)
    }
    this.#pool.changed()
  }

  /** Only now have the thread's locks been released: the next writer may come. */
  #exit(): void {
    const job = this.#job
    this.#rest()
    this.#ending ??= new MemoryCallError('trap', 'the worker thread ended by itself')
    job?.reject(this.#ending)
    this.#pool.ended()
  }

  #rest(): void {
    clearTimeout(this.#deadline)
    this.#job = undefined
    this.waits = false
    this.#worker.unref()
  }
}
