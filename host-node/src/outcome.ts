import { MemoryCallError } from './errors.ts'
import type { Category } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { Answer } from './pool.ts'

/** The answer of a tool. A tool's error is an outcome too: a model can read it and correct its call. */
export type Outcome<Result = unknown> = (
  { isError: false; result: Result } | { isError: true; result: unknown; error: ToolError }
) & {
  /** The URIs of the resources that the call changed. */
  changed: string[]
  /** Work that the call leaves. With the options `summarize` and `embed`, the memory carries it out by itself. */
  followUps: FollowUp[]
  /** The vector with which a search would answer better. With the option `embed`, the memory has asked for it. */
  wantsVector?: WantedVector
}

/** The vector with which a search would answer better. Its answer is complete without it. */
export interface WantedVector {
  /** The name of the embedder. */
  readonly model: string
  readonly text: string
  /** How long it is worth waiting for, in milliseconds. */
  readonly deadlineMs: number
}

/** A tool's error. Give a model the outcome's `result` instead, which is the toolset's own JSON. */
export interface ToolError {
  /** The kind of error, the same for every toolset. It tells what a caller can do. */
  readonly category: Category
  /** The toolset's own error code. */
  readonly code: string
  /** For people and models: what was wrong, where, and what to do. */
  readonly message: string
}

/** Work that a call leaves to be done later. It stays in storage until it is answered. */
export interface FollowUp {
  /** Identifies it for `claim` and `answer`. */
  readonly id: string
  /** The kind of work. For `summary`, the payload is a `SummaryPayload`, for `embedding` an `EmbeddingPayload`. */
  readonly kind: string
  /** JSON, whose form depends on the kind. */
  readonly payload: unknown
}

/** The outcome in an answer. Throws a `MemoryCallError` if the answer has none. */
export function outcomeOf(answer: Answer): Outcome {
  switch (answer.kind) {
    case 'outcome': {
      const { answer: answered, changed, followUps, wantsVector } = answer.outcome
      const rest = {
        changed,
        followUps: followUps.map(({ id, kind, payload }) => ({ id, kind, payload: parseJson(payload) })),
        ...(wantsVector !== undefined && { wantsVector }),
      }
      if (answered.tag === 'ok') return { isError: false, result: parseJson(answered.val), ...rest }
      const { json, ...error } = answered.val
      return { isError: true, result: parseJson(json), error, ...rest }
    }
    case 'failure':
      throw new MemoryCallError(answer.code, answer.message)
    case 'ended':
      throw new MemoryCallError(answer.reason, `the component ended: ${answer.message}`)
    case 'retry':
      throw new MemoryCallError('trap', 'a call that waits for its lock was answered')
  }
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new MemoryCallError('trap', 'the component answered with text that is not JSON')
  }
}
