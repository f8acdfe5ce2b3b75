import type { Section } from '../manifest/section.ts';
import { modelsSchema } from './manifest.ts';

/** The `hosting.models` section of the manifest. */
export const modelsSection = {
  name: 'models',
  within: 'hosting',
  schema: modelsSchema,
  settingFor: () => 'HF_TOKEN',
} as const satisfies Section;
