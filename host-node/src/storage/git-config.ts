/** Settings by `section.name` in lower case, without those of subsections: null where one stands without `=`. */
export type GitSettings = Map<string, string | null>

/**
 * What a Git configuration file says; of several settings of one name the last counts. Undefined where the
 * text is not in Git's own form: a host must not understand `core.worktree` differently from Git.
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

/** Whether a setting is switched on. Git's other spellings of numbers, such as `0x1`, are not known. */
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

/** One value up to the end of its line, which may be continued: white space around it goes, unless it is quoted. */
function takeValue(rest: Rest): string | undefined {
  let value = ''
  let kept = 0
  let quoted = false
  for (let at = 0; ; at++) {
    // The end of the text ends its last line.
    const character = rest.text[at] ?? '\n'
    if (character === '\n' || (!quoted && /[#;]/.test(character))) {
      rest.text = rest.text.slice(at)
      return quoted ? undefined : value.slice(0, kept)
    }
    if (!quoted && /[ \t\r]/.test(character)) {
      if (value !== '') value += character
      continue
    }
    if (character === '"') {
      quoted = !quoted
    } else if (character === '\\') {
      const meant = escapes[rest.text[++at] ?? '\n']
      if (meant === undefined) return undefined
      value += meant
    } else {
      value += character
    }
    kept = value.length
  }
}
