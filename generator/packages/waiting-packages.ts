import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'rolldown';

/** A package that waits in a file of its own. */
export interface Waiting {
  readonly file: string;
  /** Its own first file. */
  readonly path: string;
}

const MARK = '\0waiting:';

/**
 * Puts stand-ins where packages are required that make large tables as soon as they are read. A stand-in's functions read
 * the package when they are called.
 *
 * @example const { plugin, found } = waitingPackages(['mime-types']);
 */
export function waitingPackages(names: readonly string[]): {
  readonly plugin: Plugin;
  found(): readonly Waiting[];
} {
  const found = new Map<string, Waiting>();
  const plugin: Plugin = {
    name: 'waiting-packages',
    async resolveId(id, importer, { kind }) {
      if ([...found.values()].some(({ file }) => id === `./${file}`)) return { id, external: true };
      if (kind !== 'require-call' || !names.includes(id)) return null;
      const path = (await this.resolve(id, importer, { kind, skipSelf: true }))?.id;
      if (!path) return null;
      found.set(path, { file: fileOf(id, path), path });
      return `${MARK}${path}`;
    },
    load: (id) => {
      const waiting = found.get(id.slice(MARK.length));
      return id.startsWith(MARK) && waiting ? { code: standIn(waiting), moduleType: 'js' } : null;
    },
  };
  return { plugin, found: () => [...found.values()] };
}

export const isStandIn = (id: string): boolean => id.startsWith(MARK);

/** Two versions of a package are two files. */
function fileOf(name: string, path: string): string {
  const { version } = JSON.parse(readFileSync(join(dirname(path), 'package.json'), 'utf8')) as {
    version: string;
  };
  return `${name}-${version}.cjs`;
}

function standIn({ file, path }: Waiting): string {
  const real = createRequire(import.meta.url)(path) as Readonly<Record<string, unknown>>;
  return [
    `const real = () => require('./${file}');`,
    ...Object.entries(real).map(([name, value]) =>
      typeof value === 'function'
        ? `exports.${name} = (...given) => real().${name}(...given);`
        : `Object.defineProperty(exports, '${name}', { enumerable: true, get: () => real().${name} });`,
    ),
  ].join('\n');
}
