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

/** The kind of a tool's error, the same for every toolset. */
export type Category = 'invalid' | 'not-found' | 'limit' | 'damaged' | 'busy' | 'denied' | 'storage' | 'internal'

/** A tool's error. Give a model the outcome's `result` instead, which is the toolset's own JSON. */
export interface ToolError {
  /** It tells what a caller can do. */
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
