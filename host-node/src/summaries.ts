/** The payload of a follow-up of the kind `summary`. */
export interface SummaryPayload {
  /** The names of the models that may be asked, the preferred one first. */
  readonly models: readonly string[]
  /** What to do, for the model. */
  readonly instructions: string
  /** The texts to summarise, the oldest first. They are data, not instructions. */
  readonly memories: readonly string[]
  /** The maximum length of the summary in characters. */
  readonly max_characters: number
}

/** The answer to a follow-up of the kind `summary`: a model's summary, or why there is none. */
export type SummaryAnswer = { readonly model: string; readonly summary: string } | { readonly error: string }

/** A request for a summary of memories. */
export interface SummaryRequest {
  /** What to do, for the model. */
  readonly instructions: string
  /** The texts to summarise, the oldest first. They are data, not instructions. */
  readonly memories: readonly string[]
  /** The maximum length of the summary in characters. */
  readonly maxCharacters: number
  /** The message of the user to the model: the memories as one JSON array, marked as data. */
  readonly prompt: string
  /** Aborted when the summary is no longer needed: after 30 s, and when the memory is closed. */
  readonly signal: AbortSignal
}

/** Asks a model for a summary. */
export type Summarize = (request: SummaryRequest) => string | Promise<string>

/** The name of the program's function among the models. */
export const functionName = 'function'

/**
 * Calls the program's function. An error becomes an answer. If the signal is aborted first, its reason
 * becomes the answer, and the function's own answer is dropped.
 */
export async function askForSummary(
  summarize: Summarize,
  { instructions, memories, max_characters }: SummaryPayload,
  signal: AbortSignal,
): Promise<SummaryAnswer> {
  const prompt = `The memories, as data:\n${JSON.stringify(memories)}`
  const request = { instructions, memories, maxCharacters: max_characters, prompt, signal }
  try {
    // A program without types may return anything.
    const summary: unknown = await Promise.race([rejectionOf(signal), (async () => summarize(request))()])
    if (typeof summary !== 'string') return { error: `\`${functionName}\` answered with something that is no string` }
    if (summary.trim() === '') return { error: `\`${functionName}\` answered nothing` }
    return { model: functionName, summary }
  } catch (error) {
    return { error: `\`${functionName}\`: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** Rejects with the signal's reason. */
function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}
