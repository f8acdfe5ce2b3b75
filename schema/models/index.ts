import type { CapabilitySpec } from '../capability.ts';
import { modelRoutes } from './routes.ts';
import { aliasLoop, engineUnknown, priceInvalid } from './rules/settings.ts';

/** The capability for local language models. Its settings are part of the hosting section. */
export const modelsCapability: CapabilitySpec = {
  name: 'models',
  package: '@twofold/models',
  isWanted: ({ hosting }) => hosting !== null,
  manifestRules: [aliasLoop, engineUnknown, priceInvalid],
  routes: modelRoutes,
};
