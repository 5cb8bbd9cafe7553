import type { AgentMemory, MemoryView } from 'agent-memory'
import { dynamicTool, jsonSchema, type LanguageModelMiddleware, type ToolSet } from 'ai'
import { type FilesApplication, memoryCommands } from './memory-files.ts'
import { type Application, modelTools } from './model-tools.ts'
import { type ResumeApplication, resumeOfRun } from './resume.ts'

export type { Application, FilesApplication, ResumeApplication }

/** The tools of a memory for the AI SDK: `generateText({ tools: memoryTools(memory, { agent: 'ada' }), ... })`. */
export function memoryTools(memory: AgentMemory | MemoryView, application: Application): ToolSet {
  const tools = modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    const execute = async (input: unknown) => {
      const { json, isError } = await call(input)
      // The model reads the message.
      if (isError) throw new Error(json)
      return JSON.parse(json)
    }
    return [name, dynamicTool({ description, inputSchema: jsonSchema(inputSchema), execute })] as const
  })
  return Object.fromEntries(tools)
}

/**
 * Anthropic's memory tool over the toolset `files`, for the provider `@ai-sdk/anthropic`:
 * `tools: { memory: anthropic.tools.memory_20250818({ execute: memoryFiles(memory, { agent: 'ada' }) }) }`.
 */
export function memoryFiles(
  memory: AgentMemory | MemoryView,
  application?: FilesApplication,
): (command: { command: string }) => Promise<string> {
  const execute = memoryCommands(memory, application)
  return async (command) => {
    const { text, isError } = await execute(command)
    if (isError) throw new CommandError(text)
    return text
  }
}

/** A refusal of a command. The model reads the message alone, without the name of an error before it. */
class CommandError extends Error {
  override toString(): string {
    return this.message
  }
}

/**
 * Lets a model begin with what is remembered, behind the system messages of the application:
 * `wrapLanguageModel({ model, middleware: resumeMemory(memory, { agent: 'ada' }) })`. It is read for each message of a
 * user, and not again for the steps that follow.
 */
export function resumeMemory(
  memory: AgentMemory | MemoryView,
  application: ResumeApplication,
): LanguageModelMiddleware {
  const resume = resumeOfRun(memory, application)
  return {
    transformParams: async ({ params }) => {
      const { prompt } = params
      const content = await resume(prompt.at(-1)?.role === 'user')
      const first = prompt.findIndex(({ role }) => role !== 'system')
      const end = first === -1 ? prompt.length : first
      return { ...params, prompt: prompt.toSpliced(end, 0, { role: 'system', content }) }
    },
  }
}
