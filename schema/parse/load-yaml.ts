import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

const load = createRequire(import.meta.url);

/**
 * Loads the YAML parser on first use: a server that has only a schema does not need it. The rest of
 * this package runs in a browser too, where another file takes the place of this one.
 */
export const loadYaml = (): typeof Yaml => load('yaml') as typeof Yaml;
