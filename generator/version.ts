import { readFileSync, existsSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** The version of this package; all our packages have the same. */
export function packageVersion(): string {
  return manifest.version;
}

/** Whether this is a checkout of the repo, and not an installed package. */
export function isCheckout(): boolean {
  return (
    existsSync(new URL('./cli.ts', import.meta.url)) &&
    existsSync(new URL('../runtime/core/package.json', import.meta.url))
  );
}
