import { existsSync } from 'node:fs';

/** Whether this is a checkout of the repo, and not an installed package. */
export function isCheckout(): boolean {
  return (
    existsSync(new URL('../cli.ts', import.meta.url)) &&
    existsSync(new URL('../../runtime/core/package.json', import.meta.url))
  );
}
