// The program of a worker thread. The build bundles it with everything that it imports into one script.
import { instantiate } from '../generated/component/component.js'
import { serve } from './serve.ts'
import type { Instantiate } from './toolbox.ts'

serve(instantiate as unknown as Instantiate)
