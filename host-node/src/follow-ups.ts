import { setTimeout as sleep } from 'node:timers/promises'
import { answerOf, type Embedder, type EmbeddingAnswer, type EmbeddingPayload, isForEmbedder } from './embedding.ts'
import type { FollowUp, Outcome } from './outcome.ts'
import { askForSummary, functionName, type Summarize, type SummaryAnswer, type SummaryPayload } from './summaries.ts'

/** The follow-ups in storage. */
export interface StoredFollowUps {
  pending(): Promise<Outcome<null>>
  claim(id: string, leaseSeconds: number): Promise<Outcome<boolean>>
  answer(id: string, payload: SummaryAnswer | EmbeddingAnswer): Promise<Outcome>
}

/** In milliseconds. */
export interface FollowUpTimes {
  /** How long a function has for one summary, or for the vectors of one batch. */
  readonly summary: number
  /** The lease of a follow-up, and the time between two polls for those that were left. Longer than twice `summary`. */
  readonly lease: number
  /** How long `close` waits. */
  readonly close: number
  /**
   * The pauses before a follow-up is claimed or answered again after another writer was too long. With the waits for
   * the lock they end within the lease.
   */
  readonly pauses: readonly number[]
}

const defaultTimes: FollowUpTimes = { summary: 30_000, lease: 90_000, close: 5_000, pauses: [1_000, 4_000, 15_000] }

/**
 * Carries out follow-ups after their calls were answered: asks the program's functions for summaries and for vectors.
 *
 * Its timers do not keep the process alive. What it leaves is in storage, for the next process.
 */
export class FollowUps {
  readonly #stored: StoredFollowUps
  readonly #summarize: Summarize | undefined
  readonly #embedder: Embedder | undefined
  readonly #times: FollowUpTimes
  readonly #inProgress = new Set<Promise<void>>()
  /** Those of the summaries and vectors that the functions are asked for. */
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

  /** Begins to carry out the follow-ups of a call. Those for other models are left to the program. */
  carryOut(followUps: readonly FollowUp[]): void {
    if (followUps.some(this.#isForFunction)) this.#track(this.#carryOut(followUps))
  }

  /** Waits for what is in progress, but not for long. The rest is left for the next process. */
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

  /** Returns the follow-ups that the answer leaves. */
  async #carryOutOne(followUp: FollowUp): Promise<readonly FollowUp[]> {
    const { id } = followUp
    const claimed = await this.#unlessBusy(() => this.#stored.claim(id, this.#times.lease / 1000))
    if (claimed.isError) throw new Error(claimed.error.message)
    if (!claimed.result || this.#hasEnded) return []
    // The claim of some kinds brings the request.
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

  /** Tells the person who runs the program, since nobody awaits this work. After the end nothing is unexpected. */
  #warn(message: string): void {
    if (!this.#hasEnded) console.error(`agent-memory: ${message}`)
  }
}
