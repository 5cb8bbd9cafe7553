/**
 * The settings of a Git configuration file by `section.name` in lower case, without those of subsections;
 * of several with one name the last counts. Undefined where the text is not in Git's form.
 *
 * The form is that of git-config(1): a host must not understand `core.worktree` differently from Git.
 */
export function parseGitConfig(text: string): Map<string, string> | undefined {
  const settings = new Map<string, string>()
  const rest = { text: text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n') }
  let section: string | undefined
  for (;;) {
    take(rest, /^(\s|[#;][^\n]*)*/)
    if (rest.text === '') return settings

    const header = take(rest, /^\[([A-Za-z0-9.-]+)([ \t]+"(?:[^"\\\n]|\\[^\n])*")?\]/)
    if (header) {
      section = header[2] === undefined ? header[1]!.toLowerCase() : undefined
      continue
    }

    const name = take(rest, /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|(?=[#;\n]|$))/)
    if (!name) return undefined
    const value = name[2] === '=' ? takeValue(rest) : ''
    if (value === undefined) return undefined
    if (section !== undefined) settings.set(`${section}.${name[1]!.toLowerCase()}`, value)
  }
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

/** One value up to the end of its line, which may be continued. */
function takeValue(rest: Rest): string | undefined {
  let value = ''
  // Up to where the value reaches at least: spaces after it are dropped, spaces in quotes are not.
  let kept = 0
  let quoted = false
  for (let at = 0; ; at++) {
    const character = rest.text[at]
    const end = character === undefined || character === '\n'
    if (end || (!quoted && (character === '#' || character === ';'))) {
      rest.text = rest.text.slice(at)
      return quoted ? undefined : value.slice(0, kept)
    }
    if (character === '"') {
      quoted = !quoted
      continue
    }
    if (!quoted && /\s/.test(character)) {
      if (kept > 0) value += character
      continue
    }
    if (character === '\\') {
      const meant = escapes[rest.text[++at] ?? '']
      if (meant === undefined) return undefined
      value += meant
    } else {
      value += character
    }
    kept = value.length
  }
}
