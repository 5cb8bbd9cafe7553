import { readFile } from 'node:fs/promises'
import {
  type Description,
  type Lists,
  listsOf,
  readingToolsOf,
  type Resource,
  type ResourceTemplate,
  type Tool,
  toolsForPeopleOf,
} from './description.ts'
import { MemoryCallError, MemoryOpenError } from './errors.ts'
import type { Category, Context } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { Tools, ToolsetSettings } from './generated/toolsets.ts'
import type { Request } from './messages.ts'
import { type ComponentOptions, type MemoryOptions, settle, type Settings } from './options.ts'
import { type Ticket, WriterOrder } from './wait-queue.ts'
import { type Answer, WorkerPool } from './pool.ts'
import { compileModules } from './worker/component.ts'

export type { Tools, ToolsetSettings }

/** The names of the tools of every toolset. */
export type ToolName = keyof Tools

/** What a tool takes; for a name known only at run time, any object. */
export type Input<Name extends string> = Name extends ToolName
  ? Tools[Name]['input']
  : string extends Name
    ? object
    : never

/** What a tool returns. */
export type Output<Name extends string> = Name extends ToolName ? Tools[Name]['output'] : unknown

/** What a tool answers. A refusal is an outcome too, so that a model can read it and correct itself. */
export type Outcome<Result = unknown> = (
  { isError: false; result: Result } | { isError: true; result: unknown; error: ToolError }
) & {
  /** The URIs of the resources that the call changed. */
  changed: string[]
  /** Work that is wanted but need not be waited for. */
  followUps: { id: string; kind: string; payload: unknown }[]
}

/** Why a tool refused. Give a model the outcome's `result`, which is the toolset's own JSON. */
export interface ToolError {
  /** What a caller can do about it. */
  readonly category: Category
  /** Its kind, a word of the toolset. */
  readonly code: string
  /** For a model and a person: what was wrong, where, and what to do. */
  readonly message: string
}

/** What a resource holds. */
export interface ResourceContents {
  readonly uri: string
  readonly mimeType: string
  readonly text: string
}

/** An open memory. */
export interface Memory extends AsyncDisposable {
  /** In the order that users should see. */
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
  /**
   * Runs a tool. Calls that may change something take their turns in the order in which they were made.
   *
   * Rejects with a `MemoryCallError` where there is no outcome.
   */
  call<Name extends string>(name: Name, input: Input<Name>): Promise<Outcome<Output<Name>>>
  /** Reads a resource. Rejects with a `MemoryCallError` where there is no outcome, as for a URI that is none. */
  readResource(uri: string): Promise<Outcome<ResourceContents[]>>
  /** Waits for the calls that were made, and ends the worker threads. Later calls are refused. */
  close(): Promise<void>
}

/** Opens a memory. Rejects with a `MemoryOpenError`. */
export function openMemory(options: MemoryOptions): Promise<Memory> {
  return openComponent(new URL('./generated/component/', import.meta.url), options)
}

/**
 * As `openMemory`, with the component that jco wrote to a directory: its main file is `component.js`, what it says of
 * itself is in `description.json`.
 */
export async function openComponent(directory: URL, options: ComponentOptions): Promise<Memory> {
  const description = await loaded<Description>(async () => {
    return JSON.parse(await readFile(new URL('description.json', directory), 'utf8'))
  })
  const settings = settle(description, options)
  const { grants, places, durability, patience, storageCalls, statementTime } = settings
  const component = new URL('component.js', directory).href
  const modules = await loaded(() => compileModules(directory, settings.memoryLimit))
  const pool = new WorkerPool(
    { component, modules, grants, places, durability, patience, storageCalls },
    settings.workers,
    statementTime,
  )
  return new OpenMemory(settings, pool)
}

function loaded<T>(load: () => Promise<T>): Promise<T> {
  return load().catch((error) => {
    throw new MemoryOpenError('component', `the component cannot be loaded: ${error.message}`, error)
  })
}

class OpenMemory implements Memory {
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
  readonly #settings: Settings
  readonly #pool: WorkerPool
  readonly #order: WriterOrder
  readonly #reading: ReadonlySet<string>
  readonly #forPeople: ReadonlySet<string>
  readonly #pending = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(settings: Settings, pool: WorkerPool) {
    const { tools, resources, resourceTemplates }: Lists = listsOf(settings.mounted)
    this.tools = tools
    this.resources = resources
    this.resourceTemplates = resourceTemplates
    this.#settings = settings
    this.#pool = pool
    this.#order = new WriterOrder(settings.patience.inAll)
    this.#reading = readingToolsOf(settings.mounted)
    this.#forPeople = toolsForPeopleOf(settings.mounted)
  }

  async call<Name extends string>(name: Name, input: Input<Name>): Promise<Outcome<Output<Name>>> {
    const outcome = await this.#receive(() => {
      const request = { kind: 'call-tool' as const, name: checked(name, 'name of a tool'), arguments: textOf(input) }
      const { guestTime, guestTimeForPeople } = this.#settings
      return this.#run((context, askedAt) => ({ ...request, context, askedAt }), {
        guestTime: this.#forPeople.has(name) ? guestTimeForPeople : guestTime,
        onlyReads: this.#reading.has(name),
      })
    })
    return outcome as Outcome<Output<Name>>
  }

  async readResource(uri: string): Promise<Outcome<ResourceContents[]>> {
    const request = { kind: 'read-resource' as const, uri: checked(uri, 'URI of a resource') }
    const { guestTime } = this.#settings
    const read = () => this.#run((context) => ({ ...request, context }), { guestTime, onlyReads: true })
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
      // A fault of this library: who runs the program should see it, whatever becomes of the error.
      if (error instanceof MemoryCallError && error.code === 'trap') console.error(`agent-memory: ${error.message}`)
      throw error
    } finally {
      this.#pending.delete(running)
    }
  }

  /** Up to the first `await` this is the call's arrival: its number, its clock and its place are taken in order. */
  async #run(
    requestWith: (context: Context, askedAt?: number) => Request,
    { guestTime, onlyReads }: { guestTime: number; onlyReads: boolean },
  ): Promise<Answer> {
    const context = this.#settings.arrive()
    let ticket: Ticket | undefined = onlyReads ? undefined : this.#order.enter()
    // A tool that says it only reads has no place, and gets the last one should it want a lock after all.
    const onAsk = (lock: string) => this.#order.ask((ticket ??= this.#order.enter()), lock)
    try {
      for (let first = false; ; first = true) {
        const request = requestWith(context, ticket?.askedAt)
        const answer = await this.#pool.run({ request, guestTime, onAsk, first })
        if (answer.kind !== 'deferred') return answer
        await this.#order.turn(ticket!)
      }
    } finally {
      if (ticket) this.#order.leave(ticket)
    }
  }
}

/** Programs without types may give anything. */
function checked(text: string, what: string): string {
  if (typeof text === 'string') return text
  throw new MemoryCallError('invalid-request', `the ${what} is no string`)
}

function textOf(input: unknown): string {
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
        followUps: followUps.map(({ id, kind, payload }) => ({ id, kind, payload: parse(payload) })),
      }
      if (answered.tag === 'ok') return { isError: false, result: parse(answered.val), ...rest }
      const { json, ...error } = answered.val
      return { isError: true, result: parse(json), error, ...rest }
    }
    case 'failure':
      throw new MemoryCallError(answer.code, answer.message)
    case 'ended':
      throw new MemoryCallError(answer.reason, `the component ended: ${answer.message}`)
    case 'deferred':
      throw new MemoryCallError('trap', 'a call that waits for its turn was answered')
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new MemoryCallError('trap', 'the component answered with something that is not JSON')
  }
}
