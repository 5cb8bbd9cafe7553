import { parentPort, workerData } from 'node:worker_threads'
import type { Message, Report } from '../messages.ts'
import { SharedState } from '../shared-state.ts'
import { ServedMemory, type Thread } from './served-memory.ts'
import type { Instantiate } from './toolbox.ts'

/** Serves the requests of all memories, one at a time, on this worker thread. */
export function serve(instantiate: Instantiate): void {
  const port = parentPort!
  const thread: Thread = {
    instantiate,
    sharedState: new SharedState(workerData as SharedArrayBuffer),
    send: (report: Report) => port.postMessage(report),
  }
  const memories = new Map<number, ServedMemory>()
  port.on('message', (message: Message) => {
    switch (message.kind) {
      case 'open':
        memories.set(message.memory, new ServedMemory(thread, message.settings))
        break
      case 'serve':
        memories.get(message.memory)!.serve(message.request)
        break
      case 'close':
        memories.get(message.memory)?.close()
        memories.delete(message.memory)
        thread.send({ kind: 'closed', memory: message.memory })
    }
  })
}
