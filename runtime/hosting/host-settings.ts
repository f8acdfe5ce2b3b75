import type { HostingModel } from '@twofold/schema';
import type { Kernel } from '@twofold/runtime/kernel';

/**
 * The model with the settings of this machine, which win over the manifest: one project can be
 * installed on several hosts.
 *
 * @example onThisHost(model, settings).domain // the value of HOSTING_DOMAIN
 */
export function onThisHost(model: HostingModel, settings: Kernel['settings']): HostingModel {
  const { acme } = model.ingress;
  const email = settings.text('ACME_EMAIL') || acme.email;
  return {
    ...model,
    domain: settings.text('HOSTING_DOMAIN') || model.domain,
    ingress: { ...model.ingress, acme: { ...acme, email } },
  };
}
