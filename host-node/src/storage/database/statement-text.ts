import { isPragmaGranted } from './pragmas.ts'

/** The verdict on a statement by its text: a call may run it and it only reads, it may write, or it is denied. */
export type Verdict = 'read' | 'write' | 'denied'

const quotedOrComment = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)/g
const pragma = /^pragma\s+(?:\w+\s*\.\s*)?(\w+)\s*([=(])?/
const writing = /^(?:insert|replace|update|delete|create|drop|alter|analyze|reindex)\b/
const deniedCall = /\b(?:load_extension|fts3_tokenizer)\s*\(/
const temporary = /^create\s+temp(?:orary)?\b|\btemp\s*\./

/**
 * Judges a statement by its text, for Node before 24.10, which has no authoriser. The first word decides: a statement
 * that attaches a database, sets something or ends a transaction cannot be inside of another statement.
 */
export function judge(sql: string): Verdict {
  const text = sql
    .replace(quotedOrComment, ' ')
    .trim()
    .toLowerCase()
    .replace(/^explain\s+(?:query\s+plan\s+)?/, '')
  const grantsPragmas = [...text.matchAll(/\bpragma_(\w+)/g)].every(([, name]) => isPragmaGranted(name!, false))
  if (!grantsPragmas || deniedCall.test(text)) return 'denied'
  const [, name, argument] = pragma.exec(text) ?? []
  if (name !== undefined) {
    if (!isPragmaGranted(name, argument !== undefined)) return 'denied'
    return name === 'user_version' && argument !== undefined ? 'write' : 'read'
  }
  if (writing.test(text)) return temporary.test(text) ? 'denied' : 'write'
  if (/^with\b/.test(text)) return /\b(?:insert|update|delete|replace\s+into)\b/.test(text) ? 'write' : 'read'
  return /^(?:select|values)\b/.test(text) ? 'read' : 'denied'
}
