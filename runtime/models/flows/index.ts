import { flowsIn } from '@twofold/runtime/http';
import type { ModelState } from './flow.ts';
import * as ask from './ask.ts';
import * as downloads from './downloads.ts';
import * as keys from './keys.ts';
import * as models from './models.ts';

/** The endpoints for language models. */
export const modelFlows = flowsIn<ModelState>(models, downloads, keys, ask);
