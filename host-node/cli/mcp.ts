// The Model Context Protocol over standard input and output: a line of JSON for each message.
// https://modelcontextprotocol.io/specification/2025-11-25
import { createRequire } from 'node:module'
import type { Readable, Writable } from 'node:stream'
import { embedded } from '#embedded'
import { type AgentMemory, MemoryCallError, type Tool } from 'agent-memory'

export const { version } = createRequire(import.meta.url)('agent-memory/package.json') as { version: string }

const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

const parseError = -32700
const invalidRequest = -32600
const methodNotFound = -32601
const invalidParams = -32602
const internalError = -32603
const resourceNotFound = -32002

/** An error that a request is answered with. */
class RequestError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

type Params = Readonly<Record<string, any>>
type Methods = Readonly<Record<string, (params: Params) => object | Promise<object>>>

/** Serves a memory until the input ends, or nothing reads the output any more, and all requests are carried out. */
export async function serveStdio(memory: AgentMemory, input: Readable, output: Writable): Promise<void> {
  const methods = methodsOf(memory)
  const running = new Set<Promise<void>>()
  const send = (message: object) => output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let isRead = true
  output.on('error', () => {
    isRead = false
    input.destroy()
  })
  try {
    for await (const line of lines(input)) {
      const answered = answer(line, methods, send).finally(() => running.delete(answered))
      running.add(answered)
    }
  } catch (error) {
    if (isRead) throw error
  }
  await Promise.all(running)
}

/** JSON may contain U+2028, at which `readline` would split. */
async function* lines(input: Readable): AsyncGenerator<string> {
  input.setEncoding('utf8')
  let rest = ''
  for await (const chunk of input) {
    const [...complete] = `${rest}${chunk}`.split('\n')
    rest = complete.pop()!
    yield* complete.filter((line) => line.trim() !== '')
  }
  if (rest.trim() !== '') yield rest
}

async function answer(line: string, methods: Methods, send: (message: object) => void): Promise<void> {
  let id: unknown = null
  try {
    const request = parse(line)
    id = request.id
    const method = methods[request.method]
    // A message without an id is a notification: it gets no answer.
    if (id === undefined) return
    if (method === undefined) throw new RequestError(methodNotFound, `there is no method \`${request.method}\``)
    send({ id, result: await method(request.params ?? {}) })
  } catch (error) {
    const code = error instanceof RequestError ? error.code : internalError
    send({ id, error: { code, message: (error as Error).message } })
  }
}

function parse(line: string): { id?: string | number; method: string; params?: Params } {
  let message
  try {
    message = JSON.parse(line)
  } catch {
    throw new RequestError(parseError, 'the line is no JSON')
  }
  if (typeof message?.method === 'string') return message
  throw new RequestError(invalidRequest, 'the message is no request: it has no `method`')
}

function methodsOf(memory: AgentMemory): Methods {
  const tools = memory.tools.filter((tool) => tool.audience === 'model')
  return {
    initialize: ({ protocolVersion }) => ({
      protocolVersion: protocolVersions.includes(protocolVersion) ? protocolVersion : protocolVersions[0],
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      serverInfo: { name: 'agent-memory', version },
      instructions: instructionsFor(tools),
    }),
    ping: () => ({}),
    'tools/list': () => ({ tools: tools.map(listed) }),
    'tools/call': ({ name, arguments: input = {} }) => callTool(memory, name, input),
    'resources/list': () => ({ resources: memory.resources }),
    'resources/templates/list': () => ({ resourceTemplates: memory.resourceTemplates }),
    'resources/read': async ({ uri }) => ({
      contents: await resultOf(memory.readResource(uri), resourceNotFound),
    }),
    'prompts/list': () => ({ prompts: memory.prompts }),
    'prompts/get': async ({ name, arguments: given = {} }) => {
      const { description, messages } = await resultOf(memory.getPrompt(name, given))
      return {
        description,
        messages: messages.map(({ role, text }) => ({ role, content: { type: 'text', text } })),
      }
    },
    'completion/complete': async ({ ref, argument, context }) => {
      const reference = ref?.type === 'ref/prompt' ? { prompt: ref.name } : { resourceTemplate: ref?.uri }
      const others = context?.arguments ?? {}
      const completion = { reference, argument: argument?.name, value: argument?.value, others }
      return { completion: { values: await resultOf(memory.complete(completion)) } }
    },
  }
}

/** The instructions of the native server: how to use the memory, and the tools by use. */
function instructionsFor(tools: readonly Tool[]): string {
  const names = new Set(tools.map(({ name }) => name))
  const uses = embedded.description.toolsets.map(({ description, tools }) => {
    const forModels = tools.filter(({ audience }) => audience === 'model')
    const listed = forModels.map((tool) => [tool.name, tool.qualified_name].find((name) => names.has(name)))
    // A toolset that is not mounted may share some of its names with one that is.
    return listed.includes(undefined) ? '' : `- ${description}: ${listed.map((name) => `\`${name}\``).join(', ')}\n`
  })
  return embedded.instructions + uses.join('')
}

function listed({ audience: _, always_visible, ...tool }: Tool): object {
  return always_visible ? { ...tool, _meta: { 'anthropic/alwaysLoad': true } } : tool
}

/** A refusal is a result that the model reads. */
async function callTool(memory: AgentMemory, name: string, input: object): Promise<object> {
  const { isError, result } = await unlessRefused(memory.call(name, input))
  const content = [{ type: 'text', text: JSON.stringify(result) }]
  return isError ? { content, isError } : { content, structuredContent: result }
}

async function resultOf<Result>(
  outcome: Promise<{ isError: false; result: Result } | { isError: true; error: { message: string } }>,
  notFound?: number,
): Promise<Result> {
  const settled = await unlessRefused(outcome, notFound)
  if (settled.isError) throw new RequestError(invalidParams, settled.error.message)
  return settled.result
}

async function unlessRefused<Outcome>(outcome: Promise<Outcome>, notFound = invalidParams): Promise<Outcome> {
  try {
    return await outcome
  } catch (error) {
    if (!(error instanceof MemoryCallError)) throw error
    const codes: Partial<Record<string, number>> = { 'not-found': notFound, 'invalid-request': invalidParams }
    throw new RequestError(codes[error.code] ?? internalError, error.message)
  }
}
