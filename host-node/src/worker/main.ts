// The program of a worker thread. The build makes one text of it and all that it imports.
import { instantiate } from '../generated/component/component.js'
import { serve } from './serve.ts'
import type { Instantiate } from './toolbox.ts'

serve(instantiate as unknown as Instantiate)
