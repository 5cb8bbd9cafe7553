// `index.ts` imports this file first, so that on an older Node the error names the version that is needed, and not a
// function that is missing.
const least = [22, 18]

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < least[0]! || (major === least[0] && minor < least[1]!))
  throw new Error(`agent-memory needs Node ${least.join('.')} or newer, and this is Node ${process.versions.node}`)
