import type { Context, Failure, Outcome } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { Durability } from './storage/directory.ts'
import type { Patience } from './storage/lock.ts'
import type { NamedPlaces } from './storage/named-place.ts'

/** What a worker is started with. */
export interface WorkerSettings {
  /** The URL of the transpiled component's JavaScript. */
  readonly component: string
  readonly modules: Readonly<Record<string, WebAssembly.Module>>
  /** A `Control`'s memory. */
  readonly control: SharedArrayBuffer
  /** Canonical paths. */
  readonly grants: readonly string[]
  readonly places: NamedPlaces
  readonly durability: Durability
  readonly patience: Patience
  /** How often a call may ask storage. */
  readonly storageCalls: number
}

/** What the main thread asks of a worker, one at a time. */
export type Request =
  | { readonly kind: 'read-resource'; readonly uri: string; readonly context: Context }
  | {
      readonly kind: 'call-tool'
      readonly name: string
      readonly arguments: string
      readonly context: Context
      /** When the call first asked for a lock, on the clock `monotonic`; undefined before that. */
      readonly askedAt?: number | undefined
    }

/** What a worker says. `asks` is answered through its `Control`, `waits` needs no answer; everything else ends the request. */
export type Report =
  /** It wants the lock of a place, for the first time in this run. */
  | { readonly kind: 'asks'; readonly lock: string }
  /** It has its turn, and polls for a lock that somebody else holds. */
  | { readonly kind: 'waits' }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  /** The request names nothing or has no shape. */
  | { readonly kind: 'failure'; readonly code: Failure['code']; readonly message: string }
  /** Nothing was changed: run it again when its turn has come. */
  | { readonly kind: 'deferred' }
  | { readonly kind: 'ended'; readonly reason: 'memory' | 'storage-calls' | 'trap'; readonly message: string }
