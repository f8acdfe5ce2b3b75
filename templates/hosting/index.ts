import type { CapabilityTemplate } from '../capability.ts';
import { code, local, packaged } from '../code.ts';
import { renderHosting } from './settings-file.ts';

/** Hosting container apps. */
export const hostingTemplate: CapabilityTemplate = {
  name: 'hosting',
  call: () => code`${packaged('@twofold/hosting', 'hosting')}()`,
  settings: ({ hosting }) => hosting && code`hosting: ${local('./hosting.ts', 'hostingSettings')}`,
  files: ({ hosting }) =>
    hosting ? [{ path: 'src/generated/hosting.ts', render: () => renderHosting(hosting) }] : [],
};
