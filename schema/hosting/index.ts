import type { CapabilitySpec } from '../capability.ts';
import { valuesOf } from '../parse/manifest.ts';
import { hostingRoutes } from './routes.ts';
import { domain } from './rules/domain.ts';
import { ports } from './rules/ports.ts';
import { registry } from './rules/registry.ts';

/** The capability that hosts container apps. */
export const hostingCapability: CapabilitySpec = {
  name: 'hosting',
  package: '@twofold/hosting',
  isWanted: ({ hosting }) => hosting !== null,
  opens: () => ['audit'],
  build: ({ manifest }) => manifest.values.hosting ?? null,
  defaults: ({ hosting }) => (hosting ? valuesOf({ name: 'app', hosting: {} }).hosting : undefined),
  manifestRules: [domain, ports, registry],
  routes: hostingRoutes,
};
