import { outcomeOf } from './answer.ts'
import type { Component } from './component.ts'
import { type Lists, listsOf, personToolNames, readOnlyToolNames } from './description.ts'
import { type EmbeddedText, type EmbeddingAnswer, QueryVectors } from './embedding.ts'
import { MemoryCallError, MemoryOpenError } from './errors.ts'
import { FollowUps } from './follow-ups.ts'
import { instantiate as instantiateFiles } from './generated/files/component.js'
import { modules as filesModules } from './generated/files/embedded.js'
import type { AgentMemory, Completion, Input, MemoryView, Output, PromptMessages, ResourceContents } from './memory.ts'
import type { Asked, CallContext } from './messages.ts'
import { ModuleCache } from './modules.ts'
import type { ComponentOptions } from './options.ts'
import type { Outcome } from './outcome.ts'
import type { Answer, Member } from './pool.ts'
import { checkReach, narrowReach, type Reach } from './reach.ts'
import { resolveOptions, type ResolvedOptions } from './resolve-options.ts'
import { type InstantiatePlaces, Places, type PlacesHost } from './storage/places.ts'
import type { SummaryAnswer } from './summaries.ts'
import type { Prompt, Resource, ResourceTemplate, Tool } from './tool.ts'
import { type Ticket, WaitQueue } from './wait-queue.ts'

/** Opens a memory of a component. It starts no thread: worker threads start with the first call. */
export async function openComponent(component: Component, options: ComponentOptions): Promise<AgentMemory> {
  // The component of files is needed now, because it grants the places. The memory component, which has
  // the tools, is needed only at the first call.
  const compiledFiles = await load(() => filesCache.compile(filesMemory))
  const places = new Places(instantiateFiles as unknown as InstantiatePlaces, compiledFiles, noCalls)
  const resolved = resolveOptions(component.description, options, places)
  const { memoryLimit, durability, lockTimeout, storageCalls } = resolved
  const grants = places.run((files) => files.grants())
  const member = component.pool.join({
    settings: component.modules.compile(memoryLimit).then((modules) => {
      return { modules, memoryLimit, filesModules: compiledFiles, grants, durability, lockTimeout, storageCalls }
    }),
    size: resolved.workers,
    statementTime: resolved.statementTime,
  })
  return new OpenAgentMemory(resolved, member)
}

const filesCache = new ModuleCache(filesModules)

/**
 * The maximum linear memory of the component of files, in bytes. The component holds at most the
 * changes of one commit.
 */
const filesMemory = 512 * 1024 * 1024

/**
 * The functions that the component of files imports, on the main thread. They do nothing: the main
 * thread grants places, but opens none.
 */
const noCalls: PlacesHost = {
  isHeld: () => false,
  parseRegistry: () => '{}',
  editRegistry: () => '',
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
  readonly prompts: readonly Prompt[]
  readonly #options: ResolvedOptions
  readonly #member: Member
  readonly #waitQueue: WaitQueue
  readonly #readOnlyTools: ReadonlySet<string>
  readonly #personTools: ReadonlySet<string>
  readonly #followUps: FollowUps | undefined
  readonly #queryVectors: QueryVectors | undefined
  readonly #running = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined
  readonly #reach: Reach
  /** The memory that `openMemory` returned: the one that this is a view of, or this one itself. */
  readonly #whole: OpenAgentMemory

  /** With a `view`, the new memory shares everything with `view.whole`, but has the reach of the view. */
  constructor(options: ResolvedOptions, member: Member, view?: { whole: OpenAgentMemory; reach: Reach }) {
    const { tools, resources, resourceTemplates, prompts }: Lists = listsOf(options.mounted)
    this.tools = tools
    this.resources = resources
    this.resourceTemplates = resourceTemplates
    this.prompts = prompts
    this.#options = options
    this.#member = member
    this.#reach = view?.reach ?? {}
    this.#whole = view?.whole ?? this
    this.#waitQueue = view ? view.whole.#waitQueue : new WaitQueue(options.lockTimeout.total)
    this.#readOnlyTools = readOnlyToolNames(options.mounted)
    this.#personTools = personToolNames(options.mounted)
    if (view) {
      this.#queryVectors = view.whole.#queryVectors
      this.#followUps = view.whole.#followUps
      return
    }
    this.#queryVectors = options.embedder && new QueryVectors(options.embedder)
    if (options.summarize === undefined && options.embedder === undefined) return
    // These functions still work while the memory is being closed, unlike the public methods.
    const stored = {
      pending: () => this.#listPending(),
      claim: (id: string, leaseSeconds: number) => this.#claim(id, leaseSeconds),
      answer: (id: string, payload: SummaryAnswer | EmbeddingAnswer) => this.#answer(id, payload),
    }
    this.#followUps = new FollowUps(stored, options.summarize, undefined, options.embedder)
    this.#followUps.resume()
  }

  async call<Name extends string>(
    name: Name,
    input: Input<Name>,
    vector?: EmbeddedText,
  ): Promise<Outcome<Output<Name>>> {
    return this.#receive(async () => {
      const asked: Asked = {
        kind: 'call-tool',
        name: requireString(name, 'name of a tool'),
        arguments: toJson(input),
      }
      const { guestTime, guestTimeForPeople } = this.#options
      const how = {
        guestTime: this.#personTools.has(name) ? guestTimeForPeople : guestTime,
        isReadOnly: this.#readOnlyTools.has(name),
        context: withVector(this.#nextContext(), vector),
      }
      const outcome = await this.#ask<Output<Name>>(asked, how)
      const better = how.isReadOnly ? await this.#askWithVector(asked, how, outcome) : undefined
      this.#followUps?.carryOut(outcome.followUps)
      return better ?? outcome
    })
  }

  readResource(uri: string): Promise<Outcome<ResourceContents[]>> {
    return this.#receive(async () => {
      return this.#ask({ kind: 'read-resource', uri: requireString(uri, 'URI of a resource') }, { isReadOnly: true })
    })
  }

  getPrompt(name: string, args: Readonly<Record<string, string>>): Promise<Outcome<PromptMessages>> {
    return this.#receive(async () => {
      const asked: Asked = {
        kind: 'get-prompt',
        name: requireString(name, 'name of a prompt'),
        arguments: toJson(args),
      }
      return this.#ask(asked, { isReadOnly: true })
    })
  }

  complete(completion: Completion): Promise<Outcome<string[]>> {
    return this.#receive(async () => {
      requireMembers(completion, 'completion', '`reference`, `argument` and `value`')
      const { reference, argument, value, others = {} } = completion
      requireMembers(reference, 'reference of a completion', '`prompt` or `resourceTemplate`')
      const asked: Asked = {
        kind: 'complete',
        reference:
          'prompt' in reference
            ? { tag: 'prompt', val: requireString(reference.prompt, 'name of a prompt') }
            : { tag: 'resource-template', val: requireString(reference.resourceTemplate, 'resource template') },
        argument: requireString(argument, 'name of an argument'),
        value: requireString(value, 'value of an argument'),
        others: toJson(others),
      }
      return this.#ask(asked, { isReadOnly: true })
    })
  }

  pending(): Promise<Outcome<null>> {
    return this.#receive(() => this.#listPending())
  }

  claim(id: string, leaseSeconds: number): Promise<Outcome<boolean>> {
    return this.#receive(() => this.#claim(id, leaseSeconds))
  }

  answer(id: string, payload: SummaryAnswer | EmbeddingAnswer): Promise<Outcome<{ applied: boolean }>> {
    return this.#receive(() => this.#answer(id, payload))
  }

  withReach(reach: Reach): MemoryView {
    const narrowed = narrowReach(this.#reach, checkReach(reach))
    return new OpenAgentMemory(this.#options, this.#member, { whole: this.#whole, reach: narrowed })
  }

  close(): Promise<void> {
    const whole = this.#whole
    return (whole.#closing ??= whole.#close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#running)
    await this.#followUps?.close()
    await this.#member.leave()
  }

  #nextContext(): CallContext {
    const { agents, stores } = this.#reach
    return {
      ...this.#options.nextContext(),
      ...(agents && { agents: [...agents] }),
      ...(stores && { stores: [...stores] }),
    }
  }

  #listPending(): Promise<Outcome<null>> {
    return this.#ask({ kind: 'pending' }, { isReadOnly: true })
  }

  async #claim(id: string, leaseSeconds: number): Promise<Outcome<boolean>> {
    if (!Number.isInteger(leaseSeconds) || leaseSeconds < 0 || leaseSeconds >= 2 ** 32) {
      throw new MemoryCallError('invalid-request', 'the lease is not a whole number of seconds below 2^32')
    }
    return this.#ask({ kind: 'claim', id: requireString(id, 'id of a follow-up'), leaseSeconds })
  }

  async #answer(id: string, payload: SummaryAnswer | EmbeddingAnswer): Promise<Outcome<{ applied: boolean }>> {
    return this.#ask({ kind: 'answer', id: requireString(id, 'id of a follow-up'), payload: toJson(payload) })
  }

  /**
   * Runs a request of the program, and counts it as running until it ends. Rejects if the memory is
   * closed. The part of `run` before its first `await` runs at once, so calls keep their order.
   */
  async #receive<T>(run: () => Promise<T>): Promise<T> {
    const whole = this.#whole
    if (whole.#closing) throw new MemoryCallError('closed', 'the memory is closed; open another')
    const running = run()
    whole.#running.add(running)
    try {
      return await running
    } finally {
      whole.#running.delete(running)
    }
  }

  /**
   * Repeats a search with the vector that its outcome wants. Undefined if the first outcome is to be used: it wants no
   * vector, there is no vector in time, or the repeated search fails.
   */
  async #askWithVector<Result>(
    asked: Asked,
    how: How,
    { wantsVector }: Outcome<Result>,
  ): Promise<Outcome<Result> | undefined> {
    const vector = wantsVector && (await this.#queryVectors?.of(wantsVector))
    if (vector === undefined) return undefined
    const better = await this.#ask<Result>(asked, { ...how, context: withVector(how.context, vector) })
    return better.isError ? undefined : better
  }

  async #ask<Result>(
    asked: Asked,
    { guestTime = this.#options.guestTime, isReadOnly = false, context = this.#nextContext() }: Partial<How> = {},
  ): Promise<Outcome<Result>> {
    try {
      return outcomeOf(await this.#run(asked, { guestTime, isReadOnly, context })) as Outcome<Result>
    } catch (error) {
      // A fault of this library: log it for the person who runs the program, even if the program drops the error.
      if (error instanceof MemoryCallError && error.code === 'trap') console.error(`agent-memory: ${error.message}`)
      throw error
    }
  }

  /**
   * Runs a request. If a lock is not free yet, waits for it and runs the request again. The part before
   * the first `await` runs when the call is made, so that the numbers, times and tickets of calls are
   * in the order of the calls.
   */
  async #run(asked: Asked, { guestTime, isReadOnly, context }: How): Promise<Answer> {
    let ticket: Ticket | undefined = isReadOnly ? undefined : this.#waitQueue.enter()
    // A read-only call has no ticket at first. It gets one if it then wants a lock.
    const onLockWanted = (lock: string) => this.#waitQueue.request((ticket ??= this.#waitQueue.enter()), lock)
    try {
      for (let isUrgent = false; ; isUrgent = true) {
        const mayLock = ticket !== undefined && this.#waitQueue.isFirst(ticket)
        const request = { ...asked, context, waitingSince: ticket?.waitingSince, mayLock }
        const answer = await this.#member.run({ request, guestTime, onLockWanted, isUrgent })
        if (answer.kind !== 'retry') return answer
        await this.#waitQueue.wait(ticket!)
      }
    } finally {
      if (ticket) this.#waitQueue.leave(ticket)
    }
  }
}

/** The limits and the context of a request. */
interface How {
  readonly guestTime: number
  readonly isReadOnly: boolean
  readonly context: CallContext
}

/** Adds a vector to the context of a search. Throws if the program gave something else as the vector. */
function withVector(context: CallContext, vector: EmbeddedText | undefined): CallContext {
  if (vector === undefined) return context
  // A program without types may pass anything, such as an object with a signal.
  const { text, vector: numbers } = Object(vector) as Partial<EmbeddedText>
  const isVector = Array.isArray(numbers) || ArrayBuffer.isView(numbers)
  const floats = isVector ? Float32Array.from(numbers as ArrayLike<number>) : new Float32Array()
  if (typeof text !== 'string' || floats.length === 0 || !floats.every(Number.isFinite)) {
    const message = 'the third argument is no vector of a search: leave it out, or give `{ text, vector }`'
    throw new MemoryCallError('invalid-request', message)
  }
  return { ...context, vector: { text, vector: floats } }
}

/** Throws unless a value is an object: a program without types may pass anything. */
function requireMembers(value: object, what: string, members: string): void {
  if (typeof value === 'object' && value !== null) return
  throw new MemoryCallError('invalid-request', `the ${what} is not an object: give one with ${members}`)
}

/** Throws unless a value is a string: a program without types may pass anything. */
function requireString(text: string, what: string): string {
  if (typeof text === 'string') return text
  throw new MemoryCallError('invalid-request', `the ${what} is not a string`)
}

/** A replacer for `JSON.stringify` that throws at a number that is not finite, which would become `null`. */
function finiteOnly(_name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError(`\`${value}\` is no JSON number`)
  return value
}

function toJson(input: unknown): string {
  try {
    return JSON.stringify(input, finiteOnly) ?? ''
  } catch (error) {
    throw new MemoryCallError('invalid-request', `the arguments cannot be written as JSON: ${(error as Error).message}`)
  }
}
