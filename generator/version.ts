import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** The version of this package, and of the two that it goes with. */
export function packageVersion(): string {
  return manifest.version;
}
