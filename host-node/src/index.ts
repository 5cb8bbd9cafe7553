export { MemoryCallError, type MemoryCallErrorCode, MemoryOpenError } from './errors.ts'
export type { Prompt, PromptArgument, Resource, ResourceTemplate, Tool } from './description.ts'
export type { Category } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
export {
  type Input,
  type AgentMemory,
  type Completion,
  type MemoryView,
  openMemory,
  type Output,
  type PromptMessages,
  type Reach,
  type ResourceContents,
  type ToolName,
  type Tools,
  type ToolsetSettings,
} from './agent-memory.ts'
export type { MemoryOptions } from './options.ts'
export type { Embed, EmbeddedText, EmbeddingAnswer, EmbeddingPayload } from './embedding.ts'
export type { FollowUp, Outcome, ToolError, WantedVector } from './outcome.ts'
export type { Summarize, SummaryAnswer, SummaryPayload, SummaryRequest } from './summaries.ts'
