import { parentPort, workerData } from 'node:worker_threads'
import type * as Toolbox from '../generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import { SharedState } from '../shared-state.ts'
import type { Report, Request, WorkerSettings } from '../messages.ts'
import { Databases } from '../storage/database/database.ts'
import { type InstantiatePlaces, Places } from '../storage/places.ts'
import { receivedZone } from '../time-zone.ts'
import { CallStorage, EndOfRun } from './call.ts'
import { type Instantiate, isFailure } from './component.ts'
import { ComponentInstance } from './instance.ts'

const settings = workerData as WorkerSettings
const sharedState = new SharedState(settings.sharedState)
const { instantiate } = (await import(settings.component)) as { instantiate: Instantiate }
const files = (await import(settings.files)) as { instantiate: InstantiatePlaces }
const port = parentPort!

const send = (report: Report) => port.postMessage(report)

const databases = new Databases({
  durability: settings.durability,
  lockTimeout: settings.lockTimeout,
  timer: { start: () => sharedState.enterStatement(), end: () => sharedState.leaveStatement() },
  onWait: () => send({ kind: 'waits-for-lock' }),
})

const newInstance = (storage: CallStorage) =>
  new ComponentInstance(instantiate, settings.modules, settings.memoryLimit, storage)

/** The call that runs. */
let current: CallStorage | undefined

/**
 * Runs a function of the component for registries in an instance of its own, which has nothing granted, while a call's
 * instance waits for it. Its time counts as the call's.
 */
function askFormat(work: (toolbox: typeof Toolbox) => string): string {
  sharedState.enterGuest()
  try {
    return work(newInstance(noStorage).toolbox)
  } finally {
    sharedState.leaveGuest()
  }
}

const host = {
  isHeld: () => current?.isHeld ?? false,
  parseRegistry: (text: string) => askFormat((toolbox) => toolbox.parseRegistry(text)),
  editRegistry: (text: string, change: string) => askFormat((toolbox) => toolbox.editRegistry(text, change)),
}
const grants = { text: settings.grants, isDurable: settings.durability === 'full' }
const places = new Places(files.instantiate, settings.filesModules, host, grants)
const nothing = new Places(files.instantiate, settings.filesModules, host)
const noStorage = new CallStorage(settings, sharedState, send, databases, { mayLock: false }, nothing)

/** The instance that the last call has left. */
let kept: ComponentInstance | undefined

port.on('message', (request: Request) => {
  const { report, instance } = serve(request)
  send(report)
  kept = instance?.setBack()
})

/**
 * Runs one request. Closes everything that the call has open before the report is sent. Returns the instance if the
 * component has returned.
 */
function serve(request: Request): { report: Report; instance?: ComponentInstance } {
  const storage = new CallStorage(settings, sharedState, send, databases, request, places)
  current = storage
  sharedState.beginCall()
  sharedState.enterGuest()
  const instance = kept?.lendTo(storage) ?? newInstance(storage)
  kept = undefined
  try {
    return { report: { kind: 'outcome', outcome: ask(instance.toolbox, request) }, instance }
  } catch (error) {
    if (error instanceof EndOfRun) return { report: error.report }
    if (isFailure(error)) return { report: { kind: 'failure', code: error.code, message: error.message }, instance }
    return { report: ended(error, instance.stderr()) }
  } finally {
    sharedState.leaveGuest()
    storage.close()
    current = undefined
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
