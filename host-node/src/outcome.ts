/** The answer of a tool. A tool's error is an outcome too: a model can read it and correct its call. */
export type Outcome<Result = unknown> = (
  { isError: false; result: Result } | { isError: true; result: unknown; error: ToolError }
) & {
  /** The URIs of the resources that the call changed. */
  changed: string[]
  /** Work that the call left for later. With the options `summarize` and `embed`, the memory carries it out itself. */
  followUps: FollowUp[]
  /** The vector with which the search would find more. With the option `embed`, the memory has asked for it already. */
  wantsVector?: WantedVector
}

/** The vector with which a search would find more. The answer of the search is also valid without it. */
export interface WantedVector {
  /** The name of the embedder. */
  readonly model: string
  readonly text: string
  /** The milliseconds that a search should wait for the vector at most. */
  readonly deadlineMs: number
}

/** The kind of a tool's error, the same for every toolset. */
export type Category = 'invalid' | 'not-found' | 'limit' | 'damaged' | 'busy' | 'denied' | 'storage' | 'internal'

/** A tool's error. Give a model the outcome's `result` instead, which is the toolset's own JSON. */
export interface ToolError {
  /** The kind of error, from which a caller knows what to do. */
  readonly category: Category
  /** The toolset's own error code. */
  readonly code: string
  /** For people and models: what was wrong, where, and what to do. */
  readonly message: string
}

/** Work that a call left for later, such as a summary. It stays in storage until it is answered. */
export interface FollowUp {
  /** The id for `claim` and `answer`. */
  readonly id: string
  /** The kind of work. For `summary`, the payload is a `SummaryPayload`, for `embedding` an `EmbeddingPayload`. */
  readonly kind: string
  /** JSON, whose form depends on the kind. */
  readonly payload: unknown
}
