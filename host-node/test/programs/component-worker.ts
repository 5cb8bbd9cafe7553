// The worker of any transpiled component. `componentIn` puts the URL of its code before this program.
import { serve } from '../../dist/worker/serve.js'

declare const COMPONENT: string

void import(COMPONENT).then(({ instantiate }) => serve(instantiate))
