import type { Outcome } from './generated/component/interfaces/agent-memory-core-toolbox.js'
import type { Durability } from './storage/walk.ts'
import type { Patience } from './storage/lock.ts'
import type { Records } from './storage/records.ts'

/** What a worker is started with. */
export interface WorkerSettings {
  /** The URL of the transpiled component's JavaScript. */
  readonly component: string
  readonly modules: Readonly<Record<string, WebAssembly.Module>>
  /** A `Control`'s memory. */
  readonly control: SharedArrayBuffer
  /** Canonical paths. */
  readonly grants: readonly string[]
  /** Undefined where no records are granted. */
  readonly records: Records | undefined
  readonly durability: Durability
  readonly patience: Patience
  /** How often a call may ask storage. */
  readonly storageCalls: number
}

/** What the main thread asks of a worker, one at a time. */
export type Request =
  /** What is mounted. `context` is that of no call. */
  | { readonly kind: 'list'; readonly settings: string; readonly context: string }
  | { readonly kind: 'read-resource'; readonly uri: string; readonly context: string }
  | {
      readonly kind: 'call-tool'
      readonly name: string
      readonly arguments: string
      readonly context: string
      /** When the call first asked for a lock, on the clock `monotonic`; undefined before that. */
      readonly askedAt?: number | undefined
    }

/** What a worker says. `asks` is answered through its `Control`, `waits` needs no answer; everything else ends the request. */
export type Report =
  /** It wants a lock, of a tree or of a database, beside those that it holds; `after` is taken before it. */
  | { readonly kind: 'asks'; readonly lock: string; readonly holds: readonly string[]; readonly after?: string }
  /** It has its turn, and polls for a lock that somebody else holds. */
  | { readonly kind: 'waits' }
  /** Each a JSON array. */
  | { readonly kind: 'lists'; readonly tools: string; readonly resources: string; readonly resourceTemplates: string }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  /** The request names nothing or has no shape. */
  | { readonly kind: 'failure'; readonly code: 'invalid-request' | 'not-found'; readonly message: string }
  /** Nothing was changed: run it again when its turn has come. */
  | { readonly kind: 'deferred' }
  | { readonly kind: 'ended'; readonly reason: 'memory' | 'storage-calls' | 'trap'; readonly message: string }
