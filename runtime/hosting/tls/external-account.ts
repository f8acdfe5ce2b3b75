import type { Settings } from '@twofold/runtime/kernel';
import type { ExternalAccount } from './acme.ts';

/** Reads the account at a CA from the environment. Half an account is a problem. */
export function externalAccountOf(settings: Settings): ExternalAccount | null {
  const id = settings.text('ACME_EAB_ID');
  const key = settings.text('ACME_EAB_KEY');
  if (id !== undefined && key !== undefined) return { id, key };
  if (id !== undefined || key !== undefined)
    settings.problem('ACME_EAB_ID and ACME_EAB_KEY belong together: set both, or neither');
  return null;
}
