import type { CapabilityTemplate } from '../capability.ts';
import { code, packaged } from '../code.ts';

/** Local language models. */
export const modelsTemplate: CapabilityTemplate = {
  name: 'models',
  call: () => code`${packaged('@twofold/models', 'models')}()`,
};
