import { parentPort, workerData } from 'node:worker_threads'
import type * as Toolbox from '../generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import { SharedState } from '../shared-state.ts'
import type { Report, Request, WorkerSettings } from '../messages.ts'
import { Databases } from '../storage/database/database.ts'
import { Places } from '../storage/places.ts'
import { receivedZone } from '../time-zone.ts'
import { CallStorage, EndOfRun } from './call.ts'
import { database, documents } from './capability.ts'
import { type Instantiate, isFailure } from './component.ts'
import { ComponentFormat } from './registry-format.ts'
import { inertWasi } from './wasi.ts'

const settings = workerData as WorkerSettings
const sharedState = new SharedState(settings.sharedState)
const { instantiate } = (await import(settings.component)) as { instantiate: Instantiate }
const port = parentPort!

const send = (report: Report) => port.postMessage(report)

const databases = new Databases({
  durability: settings.durability,
  lockTimeout: settings.lockTimeout,
  timer: { start: () => sharedState.enterStatement(), end: () => sharedState.leaveStatement() },
  onWait: () => send({ kind: 'waits-for-lock' }),
})

/** A fresh instance of the component, with this storage. */
const instance = (storage: CallStorage, wasi = inertWasi()) =>
  instantiate((name) => settings.modules[name]!, {
    'agent-memory:storage/documents': documents(storage),
    'agent-memory:storage/database': database(storage),
    ...wasi.imports,
  }).toolbox

const format: ComponentFormat = new ComponentFormat(sharedState, () => {
  const nothing = { ...settings, grants: [], places: [] }
  return instance(new CallStorage(nothing, sharedState, send, databases, undefined, new Places([], format)))
})
const places = new Places(settings.places, format)

port.on('message', (request: Request) => send(serve(request)))

/** Runs one request in a fresh instance. Closes everything that the call has open before the report is sent. */
function serve(request: Request): Report {
  const storage = new CallStorage(settings, sharedState, send, databases, request.waitingSince, places)
  const wasi = inertWasi()
  sharedState.beginCall()
  sharedState.enterGuest()
  try {
    return { kind: 'outcome', outcome: ask(instance(storage, wasi), request) }
  } catch (error) {
    if (error instanceof EndOfRun) return error.report
    if (isFailure(error)) return { kind: 'failure', code: error.code, message: error.message }
    return ended(error, wasi.stderr())
  } finally {
    sharedState.leaveGuest()
    storage.close()
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
