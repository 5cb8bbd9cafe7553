import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { type AgentMemory, MemoryCallError, type MemoryView } from 'agent-memory'
import { type Application, modelTools } from './model-tools.ts'
import { type ResumeApplication, resume } from './resume.ts'

export type { Application, ResumeApplication }

/** A server for the option `mcpServers` of the Claude Agent SDK. */
export interface MemoryServer {
  type: 'sdk'
  name: string
  instance: McpServer
}

/** The tools of a memory for the Claude Agent SDK: `options: { mcpServers: { memory: memoryServer(memory, { agent: 'ada' }) } }`. */
export function memoryServer(memory: AgentMemory | MemoryView, application: Application): MemoryServer {
  const tools = modelTools(memory, application)
  const name = 'agent-memory'
  const instance = new McpServer({ name, version: '1' }, { capabilities: { tools: {} } })
  instance.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ call: _, ...tool }) => ({ ...tool, _meta: { 'anthropic/alwaysLoad': true } })),
  }))
  instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find((tool) => tool.name === params.name)
    if (tool === undefined) throw new MemoryCallError('not-found', `there is no tool \`${params.name}\``)
    const { json, isError } = await tool.call(params.arguments)
    return { content: [{ type: 'text', text: json }], isError }
  })
  return { type: 'sdk', name, instance }
}

/** What a hook at the start of a session answers. */
export interface ResumeOutput {
  hookSpecificOutput: { hookEventName: 'SessionStart'; additionalContext: string }
}

/** Hooks for the option `hooks` of the Claude Agent SDK. */
export interface ResumeHooks {
  SessionStart: { hooks: (() => Promise<ResumeOutput>)[] }[]
}

/** Lets a session begin with what is remembered: `options: { hooks: resumeMemory(memory, { agent: 'ada' }), ... }`. */
export function resumeMemory(memory: AgentMemory | MemoryView, application: ResumeApplication): ResumeHooks {
  const read = resume(memory, application)
  const hook = async (): Promise<ResumeOutput> => ({
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: await read() },
  })
  return { SessionStart: [{ hooks: [hook] }] }
}
