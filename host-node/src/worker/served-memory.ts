import { instantiate as instantiateFiles } from '../generated/files/component.js'
import type * as Toolbox from '../generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { MemorySettings, Report, Request } from '../messages.ts'
import type { SharedState } from '../shared-state.ts'
import { Databases } from '../storage/database/database.ts'
import { type InstantiatePlaces, Places } from '../storage/places.ts'
import { receivedZone } from '../time-zone.ts'
import { CallStorage, EndOfRun } from './call.ts'
import { ComponentInstance } from './instance.ts'
import { type Instantiate, isFailure } from './toolbox.ts'

/** The parts of a worker thread that all its memories share. None of them keeps data of a memory. */
export interface Thread {
  readonly instantiate: Instantiate
  readonly sharedState: SharedState
  readonly send: (report: Report) => void
}

/** A memory as a worker thread serves it. Its grants and its open databases are for its own calls only. */
export class ServedMemory {
  readonly #thread: Thread
  readonly #settings: MemorySettings
  readonly #databases: Databases
  readonly #places: Places
  readonly #noStorage: CallStorage
  /** The call that runs. */
  #current: CallStorage | undefined
  /** The reset instance that the last call has left for the next one. */
  #kept: ComponentInstance | undefined

  constructor(thread: Thread, settings: MemorySettings) {
    this.#thread = thread
    this.#settings = settings
    const { sharedState, send } = thread
    const { filesModules, durability, lockTimeout } = settings
    this.#databases = new Databases({
      durability,
      lockTimeout,
      timer: { start: () => sharedState.enterStatement(), end: () => sharedState.leaveStatement() },
      onWait: () => send({ kind: 'waits-for-lock' }),
    })
    const host = {
      isHeld: () => this.#current?.isHeld ?? false,
      parseRegistry: (text: string) => this.#askFormat((toolbox) => toolbox.parseRegistry(text)),
      editRegistry: (text: string, change: string) => this.#askFormat((toolbox) => toolbox.editRegistry(text, change)),
    }
    const instantiate = instantiateFiles as unknown as InstantiatePlaces
    const grants = { text: settings.grants, isDurable: durability === 'full' }
    this.#places = new Places(instantiate, filesModules, host, grants)
    this.#noStorage = this.#newStorage({ mayLock: false }, new Places(instantiate, filesModules, host))
  }

  /** Runs a request, closes everything that it has left open, and then sends its report. */
  serve(request: Request): void {
    const { report, instance } = this.#run(request)
    this.#thread.send(report)
    this.#kept = instance?.setBack()
  }

  close(): void {
    this.#databases.close()
  }

  /** Runs a request. Also returns the instance, if the component has returned and so can be reused. */
  #run(request: Request): { report: Report; instance?: ComponentInstance } {
    const { sharedState } = this.#thread
    const storage = this.#newStorage(request, this.#places)
    this.#current = storage
    sharedState.beginCall()
    sharedState.enterGuest()
    const instance = this.#kept?.lendTo(storage) ?? this.#newInstance(storage)
    this.#kept = undefined
    try {
      return { report: { kind: 'outcome', outcome: ask(instance.toolbox, request) }, instance }
    } catch (error) {
      if (error instanceof EndOfRun) return { report: error.report }
      if (isFailure(error)) return { report: { kind: 'failure', code: error.code, message: error.message }, instance }
      return { report: ended(error, instance.stderr()) }
    } finally {
      sharedState.leaveGuest()
      storage.close()
      this.#current = undefined
    }
  }

  #newStorage(request: Pick<Request, 'waitingSince' | 'mayLock'>, places: Places): CallStorage {
    const { sharedState, send } = this.#thread
    return new CallStorage(this.#settings, sharedState, send, this.#databases, request, places)
  }

  #newInstance(storage: CallStorage): ComponentInstance {
    const { modules, memoryLimit } = this.#settings
    return new ComponentInstance(this.#thread.instantiate, modules, memoryLimit, storage)
  }

  /**
   * Runs a function of the memory component that parses or edits a registry, in a new instance without
   * grants. The call's instance waits for it, so its time counts as the call's.
   */
  #askFormat(work: (toolbox: typeof Toolbox) => string): string {
    this.#thread.sharedState.enterGuest()
    try {
      return work(this.#newInstance(this.#noStorage).toolbox)
    } finally {
      this.#thread.sharedState.leaveGuest()
    }
  }
}

function ask(toolbox: typeof Toolbox, request: Request): Toolbox.Outcome {
  const context = { ...request.context, zone: receivedZone(request.context.zone) }
  switch (request.kind) {
    case 'call-tool':
      return toolbox.callTool(request.name, request.arguments, context)
    case 'read-resource':
      return toolbox.readResource(request.uri, context)
    case 'get-prompt':
      return toolbox.getPrompt(request.name, request.arguments, context)
    case 'complete': {
      const { reference, argument, value, others } = request
      return toolbox.complete(reference, argument, value, others, context)
    }
    case 'pending':
      return toolbox.pending(context)
    case 'claim':
      return toolbox.claim(request.id, request.leaseSeconds, context)
    case 'answer':
      return toolbox.answer(request.id, request.payload, context)
  }
}

/** The report of a guest that has trapped or has broken the component model's rules. */
function ended(error: unknown, stderr: string): Report {
  // Rust's allocator writes this before it traps. V8 reports the trap like any other.
  const reason = /memory allocation of \d+ bytes failed/.test(stderr) ? 'memory' : 'trap'
  return { kind: 'ended', reason, message: stderr || String(error) }
}
