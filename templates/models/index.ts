import type { CapabilityTemplate, EnvSetting } from '../capability.ts';
import { code, packaged } from '../code.ts';

/** The settings are commented out; each value is the default. */
const ENV: readonly EnvSetting[] = [
  {
    name: '# MODELS_CONTEXT',
    why: 'Language models: tokens of one conversation at most, and prompts worked on at the same time',
    value: '8192',
  },
  { name: '# MODELS_PARALLEL', why: '', value: '2' },
  {
    name: '# OPENAI_BASE_URL',
    why: 'A model server to attach to, http://127.0.0.1:11434/v1, and the key that it expects',
    value: '',
  },
  { name: '# OPENAI_API_KEY', why: '', value: '' },
];

/** Local language models. */
export const modelsTemplate: CapabilityTemplate = {
  name: 'models',
  call: () => code`${packaged('@twofold/models', 'models')}()`,
  env: () => ENV,
  readme: () => ({ pages: [['language models', 'models/docs/models.md']] }),
};
