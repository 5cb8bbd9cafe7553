import assert from 'node:assert/strict'
import { CommitFailure } from '../dist/storage/failure.js'
import { findRepository } from '../dist/storage/repository.js'
import { areasOf, versionOf } from '../dist/storage/tree.js'
import { emptyRepository } from './scratch.ts'

/** Where the documents of a repository are. */
export const tree = '.github/agent-memory'

/** An empty repository, and the areas of its tree. */
export function setup() {
  const repository = emptyRepository()
  return { repository, areas: areasOf(findRepository(repository, [repository])) }
}

const area = 'documents' as const

export const put = (path: string, text: string, expects?: string) => ({
  tag: 'put' as const,
  val: { area, path, contents: Buffer.from(text), ...(expects !== undefined && { expects }) },
})
export const edit = (path: string, expects: string, ...splices: [at: number, removes: number, text: string][]) => ({
  tag: 'edit' as const,
  val: {
    area,
    path,
    splices: splices.map(([at, removes, text]) => ({
      at: BigInt(at),
      removes: BigInt(removes),
      inserts: Buffer.from(text),
    })),
    expects,
  },
})
export const remove = (path: string, expects: string) => ({ tag: 'delete' as const, val: { area, path, expects } })
export const copy = (from: string, to: string, expects: string) => ({
  tag: 'copy' as const,
  val: { area, from, to, expects },
})
export const rename = (from: string, to: string, expects: string) => ({
  tag: 'rename' as const,
  val: { area, from, to, expects },
})
export const version = (text: string) => versionOf(Buffer.from(text))

export function failure(work: () => unknown): CommitFailure {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof CommitFailure, String(error))
    return error
  }
  return assert.fail('the commit succeeded')
}
