import { BaseStore, type Item, type Operation, type OperationResults, type PutOperation } from '@langchain/langgraph'
import type { AgentMemory, MemoryView } from 'agent-memory'

/** The times to live of items, in minutes. */
export interface TimeToLive {
  /** That of an item which is put without one. Default: none (`null`), so it stays until it is deleted. */
  readonly defaultTtl?: number | null
  /** Whether an item that is read begins its time to live anew. Default: true. */
  readonly refreshOnRead?: boolean
}

/** What the application sets. */
export interface StoreApplication {
  /** The agent whose namespaces the store has as all there are. Without it, the store has all namespaces. */
  readonly agent?: string
  readonly ttl?: TimeToLive
}

/** An item as the memory answers it. */
interface Answered {
  readonly namespace: string[]
  readonly key: string
  readonly value: Record<string, any>
  readonly created_at: string
  readonly updated_at: string
  readonly score?: number
}

/** What the memory answers to an operation. */
interface Result {
  readonly item?: Answered
  readonly items?: Answered[]
  readonly namespaces?: string[][]
}

/** An operation that the store takes: a `put` may have a time to live. */
type WithTtl = PutOperation & { options?: { ttl?: number | null } }

/** The most characters of a query that the memory takes. */
const MAX_QUERY = 2_000

/**
 * The items of a memory as a store of LangGraph: `graph.compile({ store: new AgentMemoryStore(memory) })`.
 *
 * A batch is one transaction, so of two at once both stand. `query` ranks by words: it finds items that have some of
 * them, also inflected; of a long one, the first 2,000 characters count. `index: false` leaves an item out of that. It
 * works until the memory is closed.
 */
export class AgentMemoryStore extends BaseStore {
  readonly #memory: AgentMemory | MemoryView
  readonly #ttl: TimeToLive

  /** Throws a `TypeError` if the toolset `items` is not mounted. */
  constructor(memory: AgentMemory | MemoryView, { agent, ttl = {} }: StoreApplication = {}) {
    super()
    if (!memory.tools.some(({ name }) => name === 'put_item')) {
      throw new TypeError("mount the toolset `items`: `toolsets: ['items']`")
    }
    this.#memory = agent === undefined ? memory : memory.withReach({ agents: [agent] })
    this.#ttl = ttl
  }

  /**
   * Stores an item, in the place of the one of the same key. `ttl` is in minutes, `null` is
   * none.
   *
   * Rejects with an `Error` for a value that is too long or no object.
   */
  override async put(
    namespace: string[],
    key: string,
    value: Record<string, any>,
    index?: false | string[],
    options?: { ttl?: number | null },
  ): Promise<void> {
    if (options?.ttl === undefined) return super.put(namespace, key, value, index)
    const ttl = { ...this.#ttl, defaultTtl: options.ttl }
    return new AgentMemoryStore(this.#memory, { ttl }).put(namespace, key, value, index)
  }

  /** Carries out operations. What they read is as it was before the batch. */
  override async batch<Operations extends Operation[]>(operations: Operations): Promise<OperationResults<Operations>> {
    if (operations.length === 0) return [] as unknown as OperationResults<Operations>
    const input = { operations: operations.map((operation) => this.#operation(operation)) }
    const { isError, result } = await this.#memory.call('batch_items' as string, input)
    if (isError) throw new Error((result as { error: { message: string } }).error.message)
    const { results } = result as { results: Result[] }
    return operations.map((operation, at) => resultOf(operation, results[at]!)) as OperationResults<Operations>
  }

  #operation(operation: Operation): object {
    const refresh_ttl = this.#ttl.refreshOnRead ?? true
    if ('namespacePrefix' in operation) {
      const { namespacePrefix: namespace_prefix, filter, limit = 10, offset = 0 } = operation
      const query = [...(operation.query ?? '')].slice(0, MAX_QUERY).join('')
      return { search: { namespace_prefix, filter, query, limit, offset }, refresh_ttl }
    }
    if ('value' in operation) return this.#put(operation)
    if ('key' in operation) return { get: { namespace: operation.namespace, key: operation.key }, refresh_ttl }
    const { matchConditions = [], maxDepth: max_depth, limit = 100, offset = 0 } = operation
    const path = (kind: string) => {
      const [first, ...others] = matchConditions.filter(({ matchType }) => matchType === kind)
      if (others.length > 0) throw new Error(`a list of namespaces takes one ${kind}`)
      return first?.path ?? []
    }
    return { list: { prefix: path('prefix'), suffix: path('suffix'), max_depth, limit, offset } }
  }

  #put({ namespace, key, value, index, options }: WithTtl): object {
    if (value === null) return { delete: { namespace, key } }
    const minutes = options?.ttl === undefined ? this.#ttl.defaultTtl : options.ttl
    const ttl_seconds = minutes === undefined || minutes === null ? undefined : Math.max(1, Math.ceil(minutes * 60))
    return { put: { namespace, key, value, index: index === false ? [] : index, ttl_seconds } }
  }
}

function resultOf(operation: Operation, { item, items, namespaces }: Result): unknown {
  if ('namespacePrefix' in operation) return (items ?? []).map(found)
  if ('value' in operation) return undefined
  return 'key' in operation ? (item === undefined ? null : itemOf(item)) : (namespaces ?? [])
}

function itemOf({ namespace, key, value, created_at, updated_at }: Answered): Item {
  return { value, key, namespace, createdAt: new Date(created_at), updatedAt: new Date(updated_at) }
}

function found(answered: Answered): Item & { score?: number } {
  return { ...itemOf(answered), ...(answered.score !== undefined && { score: answered.score }) }
}
