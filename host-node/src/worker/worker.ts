import { parentPort, workerData } from 'node:worker_threads'
import { Control } from '../shared-state.ts'
import type { Report, Request, WorkerSettings } from '../messages.ts'
import { Databases } from '../storage/database/database.ts'
import { CallStorage, EndOfRun } from './call.ts'
import { database, documents } from './capability.ts'
import { type Instantiate, isFailure } from './component.ts'
import { inertWasi } from './wasi.ts'

const settings = workerData as WorkerSettings
const control = new Control(settings.control)
const { instantiate } = (await import(settings.component)) as { instantiate: Instantiate }
const port = parentPort!

const say = (report: Report) => port.postMessage(report)

const databases = new Databases({
  durability: settings.durability,
  patience: settings.patience,
  watch: { start: () => control.enterStatement(), end: () => control.leaveStatement() },
  onWait: () => say({ kind: 'waits' }),
})

port.on('message', (request: Request) => say(serve(request)))

/** Runs one request in a fresh instance. Whatever it opened is closed before it is answered. */
function serve(request: Request): Report {
  const askedAt = request.kind === 'call-tool' ? request.askedAt : undefined
  const storage = new CallStorage(settings, control, say, databases, askedAt)
  const wasi = inertWasi()
  control.begin()
  control.enterGuest()
  try {
    const { toolbox } = instantiate((name) => settings.modules[name]!, {
      'agent-memory:storage/documents': documents(storage),
      'agent-memory:storage/database': database(storage),
      ...wasi.imports,
    })
    switch (request.kind) {
      case 'read-resource':
        return { kind: 'outcome', outcome: toolbox.readResource(request.uri, request.context) }
      case 'call-tool':
        return { kind: 'outcome', outcome: toolbox.callTool(request.name, request.arguments, request.context) }
    }
  } catch (error) {
    if (error instanceof EndOfRun) return error.report
    if (isFailure(error)) return { kind: 'failure', code: error.code, message: error.message }
    return ended(error, wasi.complaint())
  } finally {
    control.leaveGuest()
    storage.close()
  }
}

/** The guest is dead: it trapped, or broke the contract between it and the host. */
function ended(error: unknown, complaint: string): Report {
  // Rust's allocator says so before it traps; V8 tells a refused growth from no other trap.
  const reason = /memory allocation of \d+ bytes failed/.test(complaint) ? 'memory' : 'trap'
  return { kind: 'ended', reason, message: complaint || String(error) }
}
