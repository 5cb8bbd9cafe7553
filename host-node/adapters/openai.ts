import { type FunctionTool, tool } from '@openai/agents'
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type Application, modelTools } from './model-tools.ts'
import { type ResumeApplication, resume } from './resume.ts'

export type { Application, ResumeApplication }

/** The tools of a memory for the OpenAI Agents SDK: `new Agent({ tools: memoryTools(memory, { agent: 'ada' }) })`. */
export function memoryTools(memory: AgentMemory | MemoryView, application: Application): FunctionTool[] {
  return modelTools(memory, application).map(({ name, description, inputSchema, call }) => {
    // A thrown error would lose its message, and strict mode makes every argument required.
    const execute = async (input: unknown) => (await call(input)).json
    return tool({ name, description, parameters: inputSchema as any, strict: false, execute })
  })
}

/**
 * Lets an agent begin with what is remembered, behind its own instructions:
 * `new Agent({ instructions: resumeMemory(memory, { agent: 'ada' }, 'You are Ada.'), ... })`. It is read once in a run.
 */
export function resumeMemory(
  memory: AgentMemory | MemoryView,
  application: ResumeApplication,
  instructions = '',
): (run: object) => Promise<string> {
  const read = resume(memory, application)
  const texts = new WeakMap<object, Promise<string>>()
  return async (run) => {
    const text = texts.get(run) ?? read()
    texts.set(run, text)
    return instructions === '' ? text : `${instructions}\n\n${await text}`
  }
}
