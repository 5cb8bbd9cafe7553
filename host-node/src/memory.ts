/// <reference lib="esnext.disposable" preserve="true" />
import type { EmbeddedText, EmbeddingAnswer } from './embedding.ts'
import type { Tools } from './generated/toolsets.ts'
import type { Outcome } from './outcome.ts'
import type { Reach } from './reach.ts'
import type { SummaryAnswer } from './summaries.ts'
import type { Prompt, Resource, ResourceTemplate, Tool } from './tool.ts'

/** The name of a tool of any toolset. */
export type ToolName = keyof Tools

/** The input of a tool. For a name that is known only at run time, any object. */
export type Input<Name extends string> = Name extends ToolName
  ? Tools[Name]['input']
  : string extends Name
    ? object
    : never

/** The result of a tool. For a name that is known only at run time, `unknown`. */
export type Output<Name extends string> = Name extends ToolName ? Tools[Name]['output'] : unknown

/** The contents of a resource. */
export interface ResourceContents {
  readonly uri: string
  readonly mimeType: string
  readonly text: string
}

/** A prompt with its text. */
export interface PromptMessages {
  readonly description: string
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[]
}

/** A view of a memory for a caller that may use only some of it. It works until that memory is closed. */
export type MemoryView = Omit<AgentMemory, 'close' | typeof Symbol.asyncDispose>

/** An argument to complete. */
export interface Completion {
  /** The prompt by its name, or the resource template by its URI template, that has the argument. */
  readonly reference: { readonly prompt: string } | { readonly resourceTemplate: string }
  /** The name of the argument. */
  readonly argument: string
  /** The beginning of the argument's value. */
  readonly value: string
  /** The arguments that are known already, by name. Default: none. */
  readonly others?: Readonly<Record<string, string>>
}

/**
 * An open memory: its tools, resources and prompts. Close it with `close()` or `await using`.
 */
export interface AgentMemory extends AsyncDisposable {
  /** The tools of the mounted toolsets, in the order in which users should see them. */
  readonly tools: readonly Tool[]
  /** The resources that can be read with `readResource`. */
  readonly resources: readonly Resource[]
  /** Patterns of further resources that can be read with `readResource`. */
  readonly resourceTemplates: readonly ResourceTemplate[]
  /** The prompts that `getPrompt` returns. */
  readonly prompts: readonly Prompt[]
  /**
   * Calls a tool. Calls that may change the same place run one after another, in the order in which they were made.
   *
   * Rejects with a `MemoryCallError` if the call has no outcome. A tool's error is an outcome with `isError`.
   *
   * `vector` is the vector that an earlier outcome of the same search wanted. Only for a program without the option
   * `embed`, which asks its embedder itself.
   */
  call<Name extends string>(name: Name, input: Input<Name>, vector?: EmbeddedText): Promise<Outcome<Output<Name>>>
  /**
   * Reads a resource.
   *
   * Rejects with a `MemoryCallError` if there is no outcome. Its code is `not-found` if no resource has the URI.
   */
  readResource(uri: string): Promise<Outcome<ResourceContents[]>>
  /**
   * Returns a prompt: messages for a model.
   *
   * Rejects with a `MemoryCallError` if there is no outcome. Its code is `not-found` if no mounted toolset has the
   * prompt, and `invalid-request` if an argument is missing, unknown or no text.
   */
  getPrompt(name: string, args: Readonly<Record<string, string>>): Promise<Outcome<PromptMessages>>
  /**
   * Completes an argument: returns at most 100 values that begin with the given text.
   *
   * Rejects with a `MemoryCallError` if there is no outcome. Its code is `not-found` if there is no such prompt,
   * resource template or argument.
   */
  complete(completion: Completion): Promise<Outcome<string[]>>
  /**
   * Lists at most 100 follow-ups that are neither answered nor claimed, as the `followUps` of the outcome. Without a
   * model there are none. `pending`, `claim` and `answer` are for a program that asks its models itself.
   */
  pending(): Promise<Outcome<null>>
  /**
   * Claims a follow-up with a lease of whole seconds. The result is `false` if another program has a lease or nothing
   * is left to do. If `followUps` of the outcome has a follow-up with the same id, carry out that one: its payload is
   * full.
   *
   * Rejects with a `MemoryCallError` if there is no outcome. Its code is `not-found` if no follow-up has an id of this
   * form.
   */
  claim(id: string, leaseSeconds: number): Promise<Outcome<boolean>>
  /**
   * Answers a follow-up of the kind `summary` or `embedding`. `applied` is false if nothing was left to do, as after an
   * earlier answer.
   *
   * Rejects like `claim`.
   */
  answer(id: string, payload: SummaryAnswer | EmbeddingAnswer): Promise<Outcome<{ applied: boolean }>>
  /**
   * Returns a view of this memory for a caller that may use only some agents or stores. The view of a view reaches what
   * both reaches have in common. Throws a `MemoryCallError` with the code `invalid-request` if the reach is wrong.
   */
  withReach(reach: Reach): MemoryView
  /**
   * Waits for the calls that were made, and at most 5 s for summaries and vectors, then ends the worker threads. Later
   * calls reject with the code `closed`.
   */
  close(): Promise<void>
}
