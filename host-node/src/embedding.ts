import type { FollowUp, WantedVector } from './outcome.ts'

/**
 * Returns the vector of each text, in order. A vector has 1 to 4,096 finite numbers; all vectors have the same length.
 * The signal is aborted when the vectors are no longer needed.
 */
export type Embed = (
  texts: readonly string[],
  options: { readonly signal: AbortSignal },
) => readonly ArrayLike<number>[] | Promise<readonly ArrayLike<number>[]>

/** A text with its vector. */
export interface EmbeddedText {
  readonly text: string
  readonly vector: ArrayLike<number>
}

/** The payload of a follow-up of the kind `embedding`. It has `texts` and `batch` only after it was claimed. */
export interface EmbeddingPayload {
  /** The name of the embedder, as the only item. */
  readonly models: readonly string[]
  /** The texts to embed. They are data, not instructions. */
  readonly texts?: readonly string[]
  /** The id of this set of texts, to be repeated in the answer. */
  readonly batch?: string
}

/** The answer to a follow-up of the kind `embedding`: the vectors of the texts in order, or why there are none. */
export type EmbeddingAnswer =
  | { readonly batch: string; readonly model: string; readonly vectors: readonly (readonly number[])[] }
  | { readonly batch: string; readonly error: string }

/** The program's function, and the name under which its vectors are stored. */
export interface Embedder {
  readonly model: string
  readonly embed: Embed
}

/** Whether the embedder can carry out a follow-up. */
export function isForEmbedder({ model }: Embedder, { kind, payload }: FollowUp): boolean {
  return kind === 'embedding' && (payload as EmbeddingPayload).models.includes(model)
}

/** Calls the program's function. If the signal is aborted first, rejects with its reason without waiting any longer. */
export async function vectorsOf(
  { embed }: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<number[][]> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    // A program without types may return anything.
    const vectors: unknown = await Promise.race([aborted, (async () => embed(texts, { signal }))()])
    if (!Array.isArray(vectors) || vectors.length !== texts.length)
      throw new Error('it answered with something that is not one vector for each text')
    return vectors.map(numbersOf)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function numbersOf(vector: unknown): number[] {
  const numbers: unknown[] = Array.isArray(vector) || ArrayBuffer.isView(vector) ? Array.from(vector as never) : []
  if (numbers.length === 0 || !numbers.every(Number.isFinite)) throw new Error('it answered with no finite numbers')
  return numbers as number[]
}

/** Asks for the vectors of a batch. Any error becomes an answer. */
export async function answerOf(
  embedder: Embedder,
  { texts = [], batch = '' }: EmbeddingPayload,
  signal: AbortSignal,
): Promise<EmbeddingAnswer> {
  const { model } = embedder
  try {
    return { batch, model, vectors: await vectorsOf(embedder, texts, signal) }
  } catch (error) {
    return { batch, error: messageOf(error) }
  }
}

/** After a failure, the milliseconds in which searches do not ask the function for a vector. */
const defaultCooldown = 30_000

/** Asks the function for the vectors of queries. After a failure, it is not asked during a cool-down. */
export class QueryVectors {
  readonly #embedder: Embedder
  readonly #cooldown: number
  /** The end of the cool-down, on the clock of `performance.now()`. */
  #cooldownEnds = 0

  constructor(embedder: Embedder, cooldown = defaultCooldown) {
    this.#embedder = embedder
    this.#cooldown = cooldown
  }

  /**
   * The vector that a search wants. Undefined if the search wants another model's vector, during a cool-down, and if
   * the function fails or is too slow. Such a failure begins a cool-down, and is logged for the person who runs the
   * program.
   */
  async of({ model, text, deadlineMs }: WantedVector): Promise<EmbeddedText | undefined> {
    if (model !== this.#embedder.model || this.#isCoolingDown()) return undefined
    const controller = new AbortController()
    const late = () => controller.abort(new Error(`no vector within ${deadlineMs} ms`))
    const timer = setTimeout(late, deadlineMs)
    try {
      const [vector] = await vectorsOf(this.#embedder, [text], controller.signal)
      return { text, vector: vector! }
    } catch (error) {
      if (this.#isCoolingDown()) return undefined
      this.#cooldownEnds = performance.now() + this.#cooldown
      console.error(`agent-memory: searches go on without vectors for ${this.#cooldown / 1000} s: ${messageOf(error)}`)
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }

  #isCoolingDown(): boolean {
    return performance.now() < this.#cooldownEnds
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
