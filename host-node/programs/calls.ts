// Reads requests as lines of JSON from standard input, and answers each with a line:
//     {"open": MemoryOptions}         {} or {"failure"}; first closes the open memory
//     {"open", "summarises": true}    the same; a summary is the memories, joined by blanks
//     {"open", "reach": Reach}        the same, as a view with this reach
//     {"tools": true}                 {"result"}: the tools of the open memory
//     {"close": true}                 {}
//     {"all": [REQUEST, ...]}         makes the requests concurrently; a list of their answers
// and a request of the memory, such as {"call": TOOL, "arguments"}, with its outcome: {"result"}, {"error"} or
// {"failure"}, with "follow_ups" and "wants_vector" where the outcome has them.
import {
  type AgentMemory,
  type EmbeddedText,
  MemoryCallError,
  type MemoryOptions,
  type MemoryView,
  openMemory,
  type Outcome,
  type Reach,
  type SummaryAnswer,
} from 'agent-memory'

type Asked =
  | { call: string; arguments: object; vector?: EmbeddedText }
  | { read: string }
  | { prompt: string; arguments: Record<string, string> }
  | {
      complete: { prompt: string } | { resource_template: string }
      argument: string
      value: string
      others: Record<string, string>
    }
  | { pending: boolean }
  | { claim: string; lease_seconds: number }
  | { answer: string; payload: SummaryAnswer }
type Request =
  | { open: MemoryOptions; summarises?: boolean; reach?: Reach }
  | { tools: true }
  | { close: true }
  | { all: Asked[] }
  | Asked

let memory: AgentMemory | undefined
let view: MemoryView | undefined

async function answer(request: Request): Promise<object> {
  try {
    if ('open' in request) {
      await memory?.close()
      const summarise: MemoryOptions['summarize'] = ({ memories }) => memories.join(' ')
      memory = await openMemory({ ...request.open, ...(request.summarises && { summarize: summarise }) })
      view = memory.withReach(request.reach ?? {})
      return {}
    }
    if ('close' in request) {
      await memory?.close()
      memory = view = undefined
      return {}
    }
    if (view === undefined) return { failure: 'no memory is open' }
    if ('tools' in request) return { result: view.tools }
    if ('all' in request) return await Promise.all(request.all.map(answer))
    const { isError, result, followUps, wantsVector } = await ask(view, request)
    return {
      [isError ? 'error' : 'result']: result,
      ...(followUps.length > 0 && { follow_ups: followUps }),
      ...(wantsVector && { wants_vector: wantsVector.text }),
    }
  } catch (error) {
    return { failure: error instanceof MemoryCallError ? error.code : String(error) }
  }
}

function ask(memory: MemoryView, request: Asked): Promise<Outcome> {
  if ('call' in request) return memory.call(request.call, request.arguments, request.vector)
  if ('read' in request) return memory.readResource(request.read)
  if ('prompt' in request) return memory.getPrompt(request.prompt, request.arguments)
  if ('complete' in request) {
    const { complete, argument, value, others } = request
    const reference = 'prompt' in complete ? complete : { resourceTemplate: complete.resource_template }
    return memory.complete({ reference, argument, value, others })
  }
  if ('pending' in request) return memory.pending()
  if ('claim' in request) return memory.claim(request.claim, request.lease_seconds)
  return memory.answer(request.answer, request.payload)
}

// `readline` would also split lines at U+2028, which JSON may contain.
let rest = ''
process.stdin.setEncoding('utf8')
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`)
}
await memory?.close()
