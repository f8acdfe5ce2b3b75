import type { CapabilitySpec } from '../capability.ts';
import { hostingRoutes } from './routes/index.ts';
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
  manifestRules: [domain, ports, registry],
  routes: hostingRoutes,
};
