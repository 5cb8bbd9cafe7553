import { ToolMessage } from '@langchain/core/messages/tool'
import { DynamicStructuredTool } from '@langchain/core/tools'
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type FilesApplication, memoryCommands } from './memory-files.ts'
import { type Application, modelTools, passThrough } from './model-tools.ts'
import { type ResumeApplication, resumeOfRun } from './resume.ts'

export type { Application, FilesApplication, ResumeApplication }

/** The tools of a memory for LangChain and LangGraph: `createAgent({ tools: memoryTools(memory, { agent: 'ada' }) })`. */
export function memoryTools(memory: AgentMemory | MemoryView, application: Application): DynamicStructuredTool[] {
  return modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    return new DynamicStructuredTool({
      name,
      description,
      schema: passThrough(inputSchema) as any,
      func: async (input: unknown, _manager?: unknown, config?: CallConfig) => {
        const { json, isError } = await call(input)
        return isError ? refusal(name, json, config) : json
      },
    })
  })
}

/**
 * Anthropic's memory tool (`memory_20250818`) over the toolset `files`, for `ChatAnthropic` of `@langchain/anthropic`:
 * `createAgent({ model, tools: [memoryFiles(memory, { agent: 'ada' })] })`.
 */
export function memoryFiles(memory: AgentMemory | MemoryView, application?: FilesApplication): DynamicStructuredTool {
  const execute = memoryCommands(memory, application)
  const name = 'memory'
  return new DynamicStructuredTool({
    name,
    description: 'Keeps files below `/memories`.',
    // The model knows the arguments. A wrong one gets our answer, which it knows as well.
    schema: passThrough({ type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }) as any,
    extras: { providerToolDefinition: { type: 'memory_20250818', name } },
    func: async (command: { command: string }, _manager?: unknown, config?: CallConfig) => {
      const { text, isError } = await execute(command)
      return isError ? refusal(name, text, config) : text
    },
  })
}

/** What `createMiddleware` takes. */
export interface ResumeMiddleware {
  name: string
  wrapModelCall(request: any, handler: (request: any) => any): Promise<any>
}

/**
 * Lets an agent begin with what is remembered, behind its system prompt:
 * `createAgent({ middleware: [createMiddleware(resumeMemory(memory, { agent: 'ada' }))] })`. It is read for each message
 * of a user, and not again for the steps that follow.
 */
export function resumeMemory(memory: AgentMemory | MemoryView, application: ResumeApplication): ResumeMiddleware {
  const resume = resumeOfRun(memory, application)
  return {
    name: 'AgentMemory',
    wrapModelCall: async (request, handler) => {
      const text = await resume(request.messages.at(-1)?.type === 'human')
      const before = request.systemMessage.text
      return handler({ ...request, systemMessage: request.systemMessage.concat(before === '' ? text : `\n\n${text}`) })
    },
  }
}

interface CallConfig {
  readonly toolCall?: { readonly id?: string }
}

/** What a model gets for a refusal. Without the id of a call, somebody else has called the tool, and gets the text. */
function refusal(name: string, content: string, config?: CallConfig): ToolMessage | string {
  const id = config?.toolCall?.id
  return id === undefined ? content : new ToolMessage({ content, status: 'error', tool_call_id: id, name })
}
