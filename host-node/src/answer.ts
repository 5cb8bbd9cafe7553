import { MemoryCallError } from './errors.ts'
import type { Outcome } from './outcome.ts'
import type { Answer } from './pool.ts'

/** The outcome in a worker's answer. Throws a `MemoryCallError` if the call has no outcome. */
export function outcomeOf(answer: Answer): Outcome {
  switch (answer.kind) {
    case 'outcome': {
      const { answer: answered, changed, followUps, wantsVector } = answer.outcome
      const rest = {
        changed,
        followUps: followUps.map(({ id, kind, payload }) => ({ id, kind, payload: parseJson(payload) })),
        ...(wantsVector !== undefined && { wantsVector }),
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
