import type { HostedPart } from '@twofold/hosting';
import { modelRoutes } from '@twofold/schema';
import { createModels } from './models.ts';

/**
 * Local language models, as `hosting.models` of the manifest says.
 *
 * @example defineApp({ project, capabilities: [auth(), hosting(), models()] });
 */
export function models(): HostedPart {
  return {
    name: 'models',
    create: () => null,
    hosted: { routes: modelRoutes, createWork: createModels },
  };
}
