import { parentPort, workerData } from 'node:worker_threads'
import { SharedState } from '../shared-state.ts'
import type { Report, Request, WorkerSettings } from '../messages.ts'
import { Databases } from '../storage/database/database.ts'
import { Family } from '../storage/family.ts'
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

const format = new ComponentFormat(sharedState, () => {
  const nothing = { ...settings, grants: [], places: [] }
  return instance(new CallStorage(nothing, sharedState, send, databases, undefined))
})
const families = new Map(
  settings.places.flatMap((place) =>
    'path' in place || 'missing' in place ? [] : [[place.label, new Family(place, settings.places, format)]],
  ),
)

port.on('message', (request: Request) => send(serve(request)))

/** Runs one request in a fresh instance. Closes everything that the call has open before the report is sent. */
function serve(request: Request): Report {
  const waitingSince = request.kind === 'call-tool' ? request.waitingSince : undefined
  const storage = new CallStorage(settings, sharedState, send, databases, waitingSince, families)
  const wasi = inertWasi()
  sharedState.beginCall()
  sharedState.enterGuest()
  try {
    const toolbox = instance(storage, wasi)
    switch (request.kind) {
      case 'read-resource':
        return { kind: 'outcome', outcome: toolbox.readResource(request.uri, request.context) }
      case 'call-tool':
        return { kind: 'outcome', outcome: toolbox.callTool(request.name, request.arguments, request.context) }
    }
  } catch (error) {
    if (error instanceof EndOfRun) return error.report
    if (isFailure(error)) return { kind: 'failure', code: error.code, message: error.message }
    return ended(error, wasi.stderr())
  } finally {
    sharedState.leaveGuest()
    storage.close()
  }
}

/** The report of a guest that has trapped or has broken the component model's rules. */
function ended(error: unknown, stderr: string): Report {
  // Rust's allocator writes this before it traps. V8 reports the trap like any other.
  const reason = /memory allocation of \d+ bytes failed/.test(stderr) ? 'memory' : 'trap'
  return { kind: 'ended', reason, message: stderr || String(error) }
}
