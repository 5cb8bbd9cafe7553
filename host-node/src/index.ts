import './node-version.ts'

export { MemoryCallError, type MemoryCallErrorCode, MemoryOpenError } from './errors.ts'
export type { JsonSchema, Prompt, PromptArgument, Resource, ResourceTemplate, Tool } from './tool.ts'
export type {
  AgentMemory,
  Completion,
  Input,
  MemoryView,
  Output,
  PromptMessages,
  ResourceContents,
  ToolName,
} from './memory.ts'
export { openMemory } from './open-memory.ts'
export type { Tools, ToolsetSettings } from './generated/toolsets.ts'
export type { MemoryOptions } from './options.ts'
export type { Embed, EmbeddedText, EmbeddingAnswer, EmbeddingPayload } from './embedding.ts'
export type { Category, FollowUp, Outcome, ToolError, WantedVector } from './outcome.ts'
export type { Reach } from './reach.ts'
export type { Summarize, SummaryAnswer, SummaryPayload, SummaryRequest } from './summaries.ts'
