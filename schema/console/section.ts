import type { Section } from '../manifest/section.ts';
import { consoleSchema } from './manifest.ts';

/** The `console:` section of the manifest. */
export const consoleSection = {
  name: 'console',
  schema: consoleSchema,
  settingFor: () => 'HOST_PASSWORD',
} as const satisfies Section;
