import type { Capability } from '@twofold/runtime/kernel';
import { hostingFlows } from './flows/index.ts';
import { hostedParts } from './hosted-part.ts';
import { onThisHost } from './host-settings.ts';
import { createHosting } from './hosting.ts';

/**
 * Hosting of container apps, configured by the manifest's `hosting` section.
 *
 * @example defineApp({ project, capabilities: [auth(), hosting(), models()] });
 */
export function hosting(): Capability {
  return {
    name: 'hosting',
    flows: hostingFlows,
    create: (kernel, all) => {
      const model = kernel.project.hosting;
      if (!model) return model;
      const parts = hostedParts(all);
      return createHosting({ kernel, model: onThisHost(model, kernel.settings), parts });
    },
  };
}
