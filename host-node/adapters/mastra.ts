import type { ProcessInputArgs, ProcessInputResultWithSystemMessages } from '@mastra/core/processors'
import { createTool, type ToolAction } from '@mastra/core/tools'
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type Application, modelTools, passThrough } from './model-tools.ts'
import { type ResumeApplication, resume } from './resume.ts'

export type { Application, ResumeApplication }

/** The tools of a memory for Mastra: `new Agent({ tools: memoryTools(memory, { agent: 'ada' }), ... })`. */
export function memoryTools(
  memory: AgentMemory | MemoryView,
  application: Application,
): Record<string, ToolAction<any, any>> {
  const tools = modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    const execute = async (input: unknown) => {
      const { json, isError } = await call(input)
      // The model reads the message.
      if (isError) throw new Error(json)
      return JSON.parse(json)
    }
    const schema = passThrough(inputSchema) as any
    return [name, createTool({ id: name, description, inputSchema: schema, execute }) as ToolAction<any, any>] as const
  })
  return Object.fromEntries(tools)
}

/** An input processor of Mastra. */
export interface ResumeProcessor {
  id: string
  processInput(input: ProcessInputArgs): Promise<ProcessInputResultWithSystemMessages>
}

/**
 * Lets an agent begin with what is remembered, behind its instructions:
 * `new Agent({ inputProcessors: [resumeMemory(memory, { agent: 'ada' })], ... })`.
 */
export function resumeMemory(memory: AgentMemory | MemoryView, application: ResumeApplication): ResumeProcessor {
  const read = resume(memory, application)
  return {
    id: 'agent-memory',
    processInput: async ({ messages, systemMessages }) => ({
      messages,
      systemMessages: [...systemMessages, { role: 'system', content: await read() }],
    }),
  }
}
