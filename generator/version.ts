import { readFileSync } from 'node:fs';

/** The version of this package, and of the two that it goes with. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;
}
