import { readFile } from 'node:fs/promises'
import {
  type Description,
  type Lists,
  listsOf,
  readOnlyToolNames,
  type Resource,
  type ResourceTemplate,
  type Tool,
  personToolNames,
} from './description.ts'
import { MemoryCallError, MemoryOpenError } from './errors.ts'
import type { Category, Context } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { Tools, ToolsetSettings } from './generated/toolsets.ts'
import type { Request } from './messages.ts'
import { type ComponentOptions, type MemoryOptions, resolveOptions, type ResolvedOptions } from './options.ts'
import { type Ticket, WaitQueue } from './wait-queue.ts'
import { type Answer, WorkerPool } from './pool.ts'
import { compileModules } from './worker/component.ts'

export type { Tools, ToolsetSettings }

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

/** The answer of a tool. A tool's error is an outcome too: a model can read it and correct its call. */
export type Outcome<Result = unknown> = (
  { isError: false; result: Result } | { isError: true; result: unknown; error: ToolError }
) & {
  /** The URIs of the resources that the call changed. */
  changed: string[]
  /** Work that is left to be done later. No tool of this version asks for any. */
  followUps: { id: string; kind: string; payload: unknown }[]
}

/** A tool's error. Give a model the outcome's `result` instead, which is the toolset's own JSON. */
export interface ToolError {
  /** The kind of error, the same for every toolset. It tells what a caller can do. */
  readonly category: Category
  /** The toolset's own error code. */
  readonly code: string
  /** For people and models: what was wrong, where, and what to do. */
  readonly message: string
}

/** The contents of a resource. */
export interface ResourceContents {
  readonly uri: string
  readonly mimeType: string
  readonly text: string
}

/**
 * An open memory: its tools and resources. Close it with `close()` or `await using`.
 */
export interface AgentMemory extends AsyncDisposable {
  /** The tools of the mounted toolsets, in the order in which users should see them. */
  readonly tools: readonly Tool[]
  /** The resources that can be read with `readResource`. */
  readonly resources: readonly Resource[]
  /** Patterns of further resources that can be read with `readResource`. */
  readonly resourceTemplates: readonly ResourceTemplate[]
  /**
   * Calls a tool. Calls that may change the same place run one after another, in the order in which they were made.
   *
   * Rejects with a `MemoryCallError` if the call has no outcome. A tool's error is an outcome with `isError`.
   */
  call<Name extends string>(name: Name, input: Input<Name>): Promise<Outcome<Output<Name>>>
  /**
   * Reads a resource.
   *
   * Rejects with a `MemoryCallError` if there is no outcome. Its code is `not-found` if no resource has the URI.
   */
  readResource(uri: string): Promise<Outcome<ResourceContents[]>>
  /** Waits for the calls that were made, then ends the worker threads. Later calls reject with the code `closed`. */
  close(): Promise<void>
}

/**
 * Opens a memory. It starts no thread: worker threads start with the first call.
 *
 * Rejects with a `MemoryOpenError` if an option is wrong or the component cannot be loaded.
 *
 * @example
 * await using memory = await openMemory({ allow: ['/home/me/project'] })
 */
export function openMemory(options: MemoryOptions): Promise<AgentMemory> {
  return openComponent(new URL('./generated/component/', import.meta.url), options)
}

/**
 * Like `openMemory`, for any component that `scripts/transpile.ts` has transpiled to a directory: its code is in
 * `component.js` and its description in `description.json`.
 */
export async function openComponent(directory: URL, options: ComponentOptions): Promise<AgentMemory> {
  const description = await load<Description>(async () => {
    return JSON.parse(await readFile(new URL('description.json', directory), 'utf8'))
  })
  const resolved = resolveOptions(description, options)
  const { grants, places, durability, lockTimeout, storageCalls, statementTime } = resolved
  const component = new URL('component.js', directory).href
  const modules = await load(() => compileModules(directory, resolved.memoryLimit))
  const pool = new WorkerPool(
    { component, modules, grants, places, durability, lockTimeout, storageCalls },
    resolved.workers,
    statementTime,
  )
  return new OpenAgentMemory(resolved, pool)
}

function load<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error) => {
    throw new MemoryOpenError('component', `the component cannot be loaded: ${error.message}`, error)
  })
}

class OpenAgentMemory implements AgentMemory {
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
  readonly #options: ResolvedOptions
  readonly #pool: WorkerPool
  readonly #waitQueue: WaitQueue
  readonly #readOnlyTools: ReadonlySet<string>
  readonly #personTools: ReadonlySet<string>
  readonly #pending = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(options: ResolvedOptions, pool: WorkerPool) {
    const { tools, resources, resourceTemplates }: Lists = listsOf(options.mounted)
    this.tools = tools
    this.resources = resources
    this.resourceTemplates = resourceTemplates
    this.#options = options
    this.#pool = pool
    this.#waitQueue = new WaitQueue(options.lockTimeout.total)
    this.#readOnlyTools = readOnlyToolNames(options.mounted)
    this.#personTools = personToolNames(options.mounted)
  }

  async call<Name extends string>(name: Name, input: Input<Name>): Promise<Outcome<Output<Name>>> {
    const outcome = await this.#receive(() => {
      const request = {
        kind: 'call-tool' as const,
        name: requireString(name, 'name of a tool'),
        arguments: toJson(input),
      }
      const { guestTime, guestTimeForPeople } = this.#options
      return this.#run((context, waitingSince) => ({ ...request, context, waitingSince }), {
        guestTime: this.#personTools.has(name) ? guestTimeForPeople : guestTime,
        isReadOnly: this.#readOnlyTools.has(name),
      })
    })
    return outcome as Outcome<Output<Name>>
  }

  async readResource(uri: string): Promise<Outcome<ResourceContents[]>> {
    const request = { kind: 'read-resource' as const, uri: requireString(uri, 'URI of a resource') }
    const { guestTime } = this.#options
    const read = () => this.#run((context) => ({ ...request, context }), { guestTime, isReadOnly: true })
    const outcome = await this.#receive(read)
    return outcome as Outcome<ResourceContents[]>
  }

  close(): Promise<void> {
    return (this.#closing ??= Promise.allSettled(this.#pending).then(() => this.#pool.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #receive(run: () => Promise<Answer>): Promise<Outcome> {
    if (this.#closing) throw new MemoryCallError('closed', 'the memory is closed; open another')
    const running = run()
    this.#pending.add(running)
    try {
      return outcomeOf(await running)
    } catch (error) {
      // An error of this library: tell the person who runs the program, even if the program drops the error.
      if (error instanceof MemoryCallError && error.code === 'trap') console.error(`agent-memory: ${error.message}`)
      throw error
    } finally {
      this.#pending.delete(running)
    }
  }

  /** Everything before the first `await` runs when the call is made: its number, time and ticket follow that order. */
  async #run(
    requestWith: (context: Context, waitingSince?: number) => Request,
    { guestTime, isReadOnly }: { guestTime: number; isReadOnly: boolean },
  ): Promise<Answer> {
    const context = this.#options.nextContext()
    let ticket: Ticket | undefined = isReadOnly ? undefined : this.#waitQueue.enter()
    // A tool that is described as read-only gets a ticket only if it wants a lock all the same.
    const onLockWanted = (lock: string) => this.#waitQueue.request((ticket ??= this.#waitQueue.enter()), lock)
    try {
      for (let isUrgent = false; ; isUrgent = true) {
        const request = requestWith(context, ticket?.waitingSince)
        const answer = await this.#pool.run({ request, guestTime, onLockWanted, isUrgent })
        if (answer.kind !== 'retry') return answer
        await this.#waitQueue.wait(ticket!)
      }
    } finally {
      if (ticket) this.#waitQueue.leave(ticket)
    }
  }
}

/** A program without types may pass anything. */
function requireString(text: string, what: string): string {
  if (typeof text === 'string') return text
  throw new MemoryCallError('invalid-request', `the ${what} is not a string`)
}

function toJson(input: unknown): string {
  try {
    return JSON.stringify(input) ?? ''
  } catch (error) {
    throw new MemoryCallError('invalid-request', `the arguments cannot be written as JSON: ${(error as Error).message}`)
  }
}

function outcomeOf(answer: Answer): Outcome {
  switch (answer.kind) {
    case 'outcome': {
      const { answer: answered, changed, followUps } = answer.outcome
      const rest = {
        changed,
        followUps: followUps.map(({ id, kind, payload }) => ({ id, kind, payload: parseJson(payload) })),
      }
      if (answered.tag === 'ok') return { isError: false, result: parseJson(answered.val), ...rest }
      const { json, ...error } = answered.val
      return { isError: true, result: parseJson(json), error, ...rest }
    }
    case 'failure':
      throw new MemoryCallError(answer.code, answer.message)
    case 'ended':
      throw new MemoryCallError(answer.reason, `the component ended: ${answer.message}`)
    case 'retry':
      throw new MemoryCallError('trap', 'a call that waits for its lock was answered')
  }
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new MemoryCallError('trap', 'the component answered with text that is not JSON')
  }
}
