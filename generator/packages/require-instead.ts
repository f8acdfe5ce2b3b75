import { createRequire, isBuiltin } from 'node:module';
import type { Plugin } from 'rolldown';

const MARK = '\0required:';
/** What makes a `require` has to be imported. */
const MAKER = /^(node:)?module$/;

/**
 * An `import` of a module of Node's reads all that it has: `node:http` its WebSocket client, which takes 40 ms, `node:crypto`
 * its Web Crypto. A `require` reads what it is asked for. Each file has its own, and so reads nothing for another.
 *
 * @param fileOf in which file a module goes
 */
export function requireInstead(fileOf: (module: string) => string | null): Plugin {
  return {
    name: 'require-instead',
    resolveId: (id, importer, { kind }) =>
      importer !== undefined && kind === 'import-statement' && isBuiltin(id) && !MAKER.test(id)
        ? `${MARK}${id}?${fileOf(importer) ?? ''}`
        : null,
    load: (id) =>
      id.startsWith(MARK) ? required(id.slice(MARK.length).replace(/\?.*/, '')) : null,
  };
}

/** The file of what stands for a module of Node's; undefined for any other module. */
export const fileOfRequired = (id: string): string | undefined =>
  id.startsWith(MARK) ? id.slice(id.indexOf('?') + 1) : undefined;

function required(id: string): string {
  const names = Object.keys(createRequire(import.meta.url)(id) as object).filter(
    (name) => name !== 'default',
  );
  return [
    `import { createRequire } from 'node:module';`,
    `const required = createRequire(import.meta.url)('${id}');`,
    `export default required;`,
    ...names.map((name) => `export const ${name} = required.${name};`),
  ].join('\n');
}
