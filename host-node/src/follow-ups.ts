import { setTimeout as sleep } from 'node:timers/promises'
import { answerOf, type Embedder, type EmbeddingAnswer, type EmbeddingPayload, isForEmbedder } from './embedding.ts'
import type { FollowUp, Outcome } from './outcome.ts'
import { askForSummary, functionName, type Summarize, type SummaryAnswer, type SummaryPayload } from './summaries.ts'

/** The functions of a memory for the follow-ups in storage. */
export interface StoredFollowUps {
  pending(): Promise<Outcome<null>>
  claim(id: string, leaseSeconds: number): Promise<Outcome<boolean>>
  answer(id: string, payload: SummaryAnswer | EmbeddingAnswer): Promise<Outcome>
}

/** The time limits of follow-ups, in milliseconds. */
export interface FollowUpTimes {
  /** How long a function has for one summary, or for the vectors of one batch. */
  readonly summary: number
  /**
   * How long a follow-up is claimed, and the time between two polls for follow-ups that were left in
   * storage. Longer than twice `summary`.
   */
  readonly lease: number
  /** How long `close` waits. */
  readonly close: number
  /**
   * The pauses before each new attempt to claim or answer a follow-up, after another writer held the lock for too long.
   * Together with the waits for the lock, they are shorter than the lease.
   */
  readonly pauses: readonly number[]
}

const defaultTimes: FollowUpTimes = { summary: 30_000, lease: 90_000, close: 5_000, pauses: [1_000, 4_000, 15_000] }

/**
 * Carries out follow-ups: work that a call left for a model. After the call was answered, asks the
 * program's functions for summaries and for vectors.
 *
 * Its timers do not keep the process alive. Follow-ups that are not carried out stay in storage, for the next process.
 */
export class FollowUps {
  readonly #stored: StoredFollowUps
  readonly #summarize: Summarize | undefined
  readonly #embedder: Embedder | undefined
  readonly #times: FollowUpTimes
  readonly #inProgress = new Set<Promise<void>>()
  /** The controllers that abort the functions that are running. */
  readonly #controllers = new Set<AbortController>()
  /** Ends the pauses when the memory is closed. */
  readonly #closing = new AbortController()
  #again: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(
    stored: StoredFollowUps,
    summarize: Summarize | undefined,
    times = defaultTimes,
    embedder: Embedder | undefined = undefined,
  ) {
    this.#stored = stored
    this.#summarize = summarize
    this.#embedder = embedder
    this.#times = times
  }

  /** Carries out the follow-ups that were left in storage: now, and again after each `lease`. */
  resume(): void {
    this.#track(this.#carryOutPending())
  }

  /** Begins to carry out the follow-ups of a call. Follow-ups for other models are left to the program. */
  carryOut(followUps: readonly FollowUp[]): void {
    if (followUps.some(this.#isForFunction)) this.#track(this.#carryOut(followUps))
  }

  /** Waits at most `close` milliseconds for follow-ups in progress. The rest is left for the next process. */
  async close(): Promise<void> {
    clearTimeout(this.#again)
    this.#closing.abort()
    const { promise: timedOut, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.#times.close)
    await Promise.race([timedOut, this.#allEnded()])
    clearTimeout(timer)
    this.#hasEnded = true
    for (const controller of this.#controllers) controller.abort(new Error('the memory was closed'))
  }

  async #allEnded(): Promise<void> {
    while (this.#inProgress.size > 0) await Promise.all(this.#inProgress)
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#inProgress.delete(tracked))
    this.#inProgress.add(tracked)
  }

  async #carryOutPending(): Promise<void> {
    try {
      const { followUps } = await this.#stored.pending()
      await this.#carryOut(followUps)
    } catch (error) {
      this.#warn(`follow-ups cannot be listed: ${(error as Error).message}`)
    }
    if (this.#closing.signal.aborted) return
    this.#again = setTimeout(() => this.resume(), this.#times.lease).unref()
  }

  async #carryOut(followUps: readonly FollowUp[]): Promise<void> {
    const waiting = followUps.filter(this.#isForFunction)
    for (let next = waiting.shift(); next !== undefined && !this.#hasEnded; next = waiting.shift()) {
      try {
        waiting.push(...(await this.#carryOutOne(next)).filter(this.#isForFunction))
      } catch (error) {
        this.#warn(`the follow-up \`${next.id}\` is left for later: ${(error as Error).message}`)
      }
    }
  }

  /** Claims a follow-up, asks the function and stores its answer. Returns the follow-ups that the answer leaves. */
  async #carryOutOne(followUp: FollowUp): Promise<readonly FollowUp[]> {
    const { id } = followUp
    const claimed = await this.#unlessBusy(() => this.#stored.claim(id, this.#times.lease / 1000))
    if (claimed.isError) throw new Error(claimed.error.message)
    if (!claimed.result || this.#hasEnded) return []
    // Some kinds of follow-ups have their full payload only in the outcome of the claim.
    const answer = await this.#ask(claimed.followUps.find((claimedOne) => claimedOne.id === id) ?? followUp)
    if (this.#hasEnded) return []
    if ('error' in answer) {
      const isSummary = followUp.kind === 'summary'
      const what = isSummary ? `the built-in summary is used for \`${id}\`` : `vectors of \`${id}\` are left for later`
      this.#warn(`${what}: ${answer.error}`)
    }
    const answered = await this.#unlessBusy(() => this.#stored.answer(id, answer))
    if (answered.isError) throw new Error(answered.error.message)
    return answered.followUps
  }

  /** Makes a call, and again after growing pauses while another writer holds the lock. */
  async #unlessBusy<Result>(call: () => Promise<Outcome<Result>>): Promise<Outcome<Result>> {
    for (const pause of this.#times.pauses) {
      const outcome = await call()
      if (this.#hasEnded || !outcome.isError || outcome.error.category !== 'busy') return outcome
      await sleep(pause, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {})
    }
    return call()
  }

  async #ask({ kind, payload }: FollowUp): Promise<SummaryAnswer | EmbeddingAnswer> {
    const controller = new AbortController()
    const { summary } = this.#times
    const what = kind === 'summary' ? 'summary' : 'vectors'
    const late = () => controller.abort(new Error(`no ${what} within ${summary} ms`))
    const timer = setTimeout(late, summary).unref()
    this.#controllers.add(controller)
    try {
      if (kind === 'embedding') return await answerOf(this.#embedder!, payload as EmbeddingPayload, controller.signal)
      return await askForSummary(this.#summarize!, payload as SummaryPayload, controller.signal)
    } finally {
      clearTimeout(timer)
      this.#controllers.delete(controller)
    }
  }

  readonly #isForFunction = (followUp: FollowUp): boolean => {
    const { kind, payload } = followUp
    if (this.#embedder !== undefined && isForEmbedder(this.#embedder, followUp)) return true
    return (
      this.#summarize !== undefined && kind === 'summary' && (payload as SummaryPayload).models.includes(functionName)
    )
  }

  /** Logs a failure, since no caller awaits this work. After `close`, failures are expected and not logged. */
  #warn(message: string): void {
    if (!this.#hasEnded) console.error(`agent-memory: ${message}`)
  }
}
