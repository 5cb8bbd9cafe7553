// What is remembered of an agent, for a model to begin with. The adapters make what their framework takes of it.
import type { AgentMemory, MemoryView } from 'agent-memory'
import { type Application, modelTools } from './model-tools.ts'

/** What the application sets of an agent that begins with what is remembered. */
export type ResumeApplication = Omit<Application, 'only'>

/**
 * Reads what is remembered, by the tool `resume_memory`. If it is refused, the model gets the reason. Throws a
 * `TypeError` if that tool is not mounted. What it returns rejects with a `MemoryCallError` for an error of the
 * application, such as a closed memory.
 */
export function resume(memory: AgentMemory | MemoryView, application: ResumeApplication): () => Promise<string> {
  const [tool] = modelTools(memory, { ...application, only: ['resume_memory'] })
  return async () => {
    const { json, isError } = await tool!.call({})
    return isError ? json : (JSON.parse(json) as { text: string }).text
  }
}

/**
 * What is remembered, for each request of a run to a model. It is read when a run begins, and stays the same for the
 * requests that follow, so that the provider's cache of the prompt serves them. Runs at the same time share the text.
 */
export function resumeOfRun(
  memory: AgentMemory | MemoryView,
  application: ResumeApplication,
): (begins: boolean) => Promise<string> {
  const read = resume(memory, application)
  let text: Promise<string> | undefined
  return (begins) => {
    if (begins) text = undefined
    return (text ??= read())
  }
}
