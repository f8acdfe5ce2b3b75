import type { Section } from '../manifest/section.ts';
import { hostingSchema } from './manifest.ts';

/** The `hosting:` section of the manifest. */
export const hostingSection = {
  name: 'hosting',
  schema: hostingSchema,
  settingFor: () => 'HOST_PASSWORD',
} as const satisfies Section;
