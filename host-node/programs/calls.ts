// Reads requests as lines of JSON from standard input, and answers each with a line:
//     {"open": MemoryOptions}         {} or {"failure"}; closes the memory that is open before
//     {"open", "summarises": true}    the same; a summary is the memories, joined by blanks
//     {"call": TOOL, "arguments"}     {"result"}, {"error"} or {"failure"}
//     {"all": [{"call", ...}, ...]}   makes the calls concurrently; a list of their answers
import { type AgentMemory, MemoryCallError, type MemoryOptions, openMemory } from 'agent-memory'

type Call = { call: string; arguments: object }
type Request = { open: MemoryOptions; summarises?: boolean } | { all: Call[] } | Call

let memory: AgentMemory | undefined

async function answer(request: Request): Promise<object> {
  try {
    if ('open' in request) {
      await memory?.close()
      const summarise: MemoryOptions['summarize'] = ({ memories }) => memories.join(' ')
      memory = await openMemory({ ...request.open, ...(request.summarises && { summarize: summarise }) })
      return {}
    }
    if ('all' in request) return await Promise.all(request.all.map(answer))
    if (memory === undefined) return { failure: 'no memory is open' }
    const outcome = await memory.call(request.call, request.arguments)
    return outcome.isError ? { error: outcome.result } : { result: outcome.result }
  } catch (error) {
    return { failure: error instanceof MemoryCallError ? error.code : String(error) }
  }
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
