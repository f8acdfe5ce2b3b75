import * as yaml from 'yaml';

/** In the place of `schema/parse/load-yaml.ts`: the parser is in the bundle. */
export const loadYaml = (): typeof yaml => yaml;
