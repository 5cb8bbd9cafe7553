/** The settings by `section.name` in lower case, without those of subsections. A setting without `=` is null. */
export type GitSettings = Map<string, string | null>

/**
 * Parses a Git configuration file. Of several settings of one name the last counts.
 *
 * Undefined if Git would not accept the text: the host must not read another `core.worktree` than Git does.
 *
 * @see https://git-scm.com/docs/git-config#_syntax
 */
export function parseGitConfig(text: string): GitSettings | undefined {
  const settings: GitSettings = new Map()
  const rest = { text: text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n') }
  let section: string | undefined
  for (;;) {
    take(rest, /^(?:[ \t\r\n]|[#;][^\n]*)*/)
    if (rest.text === '') return settings

    const header = take(rest, /^\[(?:([A-Za-z0-9.-]+)|[A-Za-z0-9.-]*[ \t\r]+"(?:[^"\\\n]|\\[^\n])*")\]/)
    if (header) {
      section = header[1]?.toLowerCase()
      continue
    }

    const name = take(rest, /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|(?=\n|$))/)
    if (!name) return undefined
    const value = name[2] === '=' ? takeValue(rest) : null
    if (value === undefined) return undefined
    if (section !== undefined) settings.set(`${section}.${name[1]!.toLowerCase()}`, value)
  }
}

/** Whether a setting is on. Git's other notations of numbers, such as `0x1`, are not supported. */
export function isTrue(value: string | null): boolean {
  return value === null || /^(true|yes|on|[+-]?\d*[1-9]\d*)$/i.test(value)
}

interface Rest {
  text: string
}

function take(rest: Rest, pattern: RegExp): RegExpExecArray | null {
  const match = pattern.exec(rest.text)
  if (match) rest.text = rest.text.slice(match[0].length)
  return match
}

const escapes: Record<string, string> = { '"': '"', '\\': '\\', n: '\n', t: '\t', b: '\b', '\n': '' }

/** Takes a value up to the end of its line, which a `\` continues. Removes white space around it that is not quoted. */
function takeValue(rest: Rest): string | undefined {
  let value = ''
  /** The length of the value without trailing white space. */
  let trimmed = 0
  let quoted = false
  for (let at = 0; ; at++) {
    // The last line may end without a line feed.
    const character = rest.text[at] ?? '\n'
    if (character === '\n' || (!quoted && /[#;]/.test(character))) {
      rest.text = rest.text.slice(at)
      return quoted ? undefined : value.slice(0, trimmed)
    }
    if (!quoted && /[ \t\r]/.test(character)) {
      if (value !== '') value += character
      continue
    }
    if (character === '"') {
      quoted = !quoted
    } else if (character === '\\') {
      const escaped = escapes[rest.text[++at] ?? '\n']
      if (escaped === undefined) return undefined
      value += escaped
    } else {
      value += character
    }
    trimmed = value.length
  }
}
