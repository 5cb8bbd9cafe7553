import type {
  Context,
  Failure,
  Outcome,
  Reference,
} from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { Modules } from './modules.ts'
import type { LockTimeout } from './storage/lock.ts'
import type { Durability } from './durability.ts'
import type { SentZone } from './time-zone.ts'

/** The settings with which a worker serves the calls of one memory. */
export interface MemorySettings {
  readonly modules: Modules
  /** The maximum linear memory in bytes. The modules are compiled with this limit. */
  readonly memoryLimit: number
  /** The core modules of the component of files. */
  readonly filesModules: Modules
  /** The grants of places, as a text that the component of files has made. */
  readonly grants: string
  readonly durability: Durability
  readonly lockTimeout: LockTimeout
  /** The most storage calls that a call may make. */
  readonly storageCalls: number
}

/** A message to a worker. It has the number of a memory, since a worker serves several memories. */
export type Message =
  /** Sends the settings of a memory to the worker, before the first request of the memory. */
  | { readonly kind: 'open'; readonly memory: number; readonly settings: MemorySettings }
  | { readonly kind: 'serve'; readonly memory: number; readonly request: Request }
  /** The worker closes everything that it has open for a memory, and reports `closed`. */
  | { readonly kind: 'close'; readonly memory: number }

/**
 * A request without its context: an exported function of the component (`wit/toolbox`) and its
 * arguments.
 */
export type Asked =
  | { readonly kind: 'call-tool'; readonly name: string; readonly arguments: string }
  | { readonly kind: 'read-resource'; readonly uri: string }
  | { readonly kind: 'get-prompt'; readonly name: string; readonly arguments: string }
  | {
      readonly kind: 'complete'
      readonly reference: Reference
      readonly argument: string
      readonly value: string
      readonly others: string
    }
  | { readonly kind: 'pending' }
  | { readonly kind: 'claim'; readonly id: string; readonly leaseSeconds: number }
  | { readonly kind: 'answer'; readonly id: string; readonly payload: string }

/** The context of a call, with its time zone in a form that is quick to send. */
export type CallContext = Omit<Context, 'zone'> & { readonly zone: SentZone }

/** A request of the main thread. A worker serves one at a time. */
export type Request = Asked & {
  readonly context: CallContext
  /** When the call first wanted a lock, on the clock `monotonic`; undefined before that. */
  readonly waitingSince?: number | undefined
  /** Whether no earlier call is left, so that the call may take a lock without asking the main thread. */
  readonly mayLock: boolean
}

/**
 * A message of a worker. The main thread replies to `wants-lock` through the `SharedState`. `takes-lock` and
 * `waits-for-lock` need no reply. Every other report but `closed` ends the request.
 */
export type Report =
  /** The call wants the lock of a place, for the first time in this run. */
  | { readonly kind: 'wants-lock'; readonly lock: string }
  /** A call with `mayLock` takes the lock of a place, for the first time in this run. It does not wait for a reply. */
  | { readonly kind: 'takes-lock'; readonly lock: string }
  /** No call of this process is before this one, but another process or program holds its lock. */
  | { readonly kind: 'waits-for-lock' }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  /** The component refused the request: the name or the arguments are wrong. */
  | { readonly kind: 'failure'; readonly code: Failure['code']; readonly message: string }
  /** Other calls want the lock first. The call was ended before it changed anything: run it again once it is next. */
  | { readonly kind: 'retry' }
  /** Everything that was open for a memory is closed. This report belongs to no request. */
  | { readonly kind: 'closed'; readonly memory: number }
  | { readonly kind: 'ended'; readonly reason: 'memory' | 'storage-calls' | 'trap'; readonly message: string }
